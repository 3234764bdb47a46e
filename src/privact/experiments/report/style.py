"""How the report looks: a small style sheet for light and dark, and for narrow screens."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #22262b; --faint: #5f6670; --line: #dcd8cf; --band: #f1eee7;
  --link: #1f5f8f; --good: #1d6b3c; --good-band: #dff0e3; --fair: #7a4d00; --fair-band: #fbecc9; --bad: #992b22;
  --bad-band: #f8dcd8; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16191d; --ink: #e4e2dc; --faint: #a0a6ae; --line: #353a41; --band: #1f2328; --link: #8cc1ea;
    --good: #9fdcb2; --good-band: #1d3a28; --fair: #f0cd85; --fair-band: #40330f; --bad: #f2aaa3; --bad-band: #47201d; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main, header { max-width: 60rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 2rem; }
main { padding-bottom: 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 3rem 0 .8rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; }
p, li { max-width: 46rem; overflow-wrap: anywhere; }
a { color: var(--link); }
nav ol { columns: 2 20rem; padding-left: 1.6rem; margin: 0; }
nav li { break-inside: avoid; padding: .1rem 0; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem 1rem .3rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
.page td, .page th { white-space: nowrap; }
.claims td:last-child { overflow-wrap: anywhere; }
th { color: var(--faint); font-weight: 600; }
code { font-size: .9em; background: var(--band); padding: .1em .3em; border-radius: .25rem; overflow-wrap: anywhere; }
figure { margin: 1.2rem 0; padding: .6rem; background: #fff; border: 1px solid var(--line); border-radius: .4rem; }
figure img { display: block; width: 100%; height: auto; }
.verdict { display: inline-block; padding: .05rem .55rem; border-radius: 1rem; font-size: .82rem; font-weight: 600;
  white-space: nowrap; }
.holds { color: var(--good); background: var(--good-band); }
.caveat { color: var(--fair); background: var(--fair-band); }
.fails { color: var(--bad); background: var(--bad-band); }
.open { color: var(--ink); background: var(--line); }
.claim { margin: 1rem 0; padding: .7rem 1rem; background: var(--band); border-radius: .4rem; }
.claim p { margin: .35rem 0; }
.rule { color: var(--faint); font-size: .88rem; }
@media (max-width: 34rem) {
  h1 { font-size: 1.5rem; }
  header { padding-top: 1.2rem; }
  .claims thead { display: none; }
  .claims tr { display: block; padding: .6rem 0; border-bottom: 1px solid var(--line); }
  .claims td { display: inline-block; border: 0; padding: .1rem .5rem .1rem 0; }
  .claims td:last-child { display: block; }
  figure { overflow-x: auto; }
  figure img { min-width: 40rem; }
}
"""
"""Verdicts are told apart by words and by colour."""
