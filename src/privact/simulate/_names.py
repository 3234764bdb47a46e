"""Readable, unique names for made-up accounts, servers and artists."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

__all__ = ["make_account_names", "make_artist_names", "make_server_names"]

# fmt: off
_PEOPLE = [
    "ada", "ben", "cleo", "dora", "emil", "finn", "gina", "hugo", "iris", "jona", "kira", "liam", "mona",
    "nils", "olga", "paul", "quin", "rosa", "sami", "tess", "ugo", "vera", "wim", "xenia", "yara", "zoe",
]
_SERVERS = [
    "vinyl", "chorus", "tempo", "reverb", "fiddle", "opus", "groove", "ballad", "encore", "octave", "bebop",
    "falsetto", "cadence", "treble", "motif", "overture",
]
_KINDS = [
    "Velvet", "Silent", "Copper", "Northern", "Hollow", "Paper", "Golden", "Distant", "Electric", "Crooked",
    "Midnight", "Tidal", "Amber", "Restless",
]
_THINGS = [
    "Lanterns", "Harbours", "Foxes", "Orchards", "Signals", "Mirrors", "Engines", "Rivers", "Sparrows",
    "Parades", "Winters", "Strangers", "Cassettes",
]
# fmt: on


def make_server_names(n_servers: int) -> tuple[str, ...]:
    """Host names: vinyl.example, chorus.example, ..., vinyl-2.example, ..."""
    return tuple(f"{_number(_SERVERS, server, '-')}.example" for server in range(n_servers))


def make_account_names(servers: NDArray[Any], hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Account names: a person, a number and the home server, as ada12@vinyl.example; they say nothing about communities."""
    width = len(_PEOPLE)
    return tuple(f"{_PEOPLE[row % width]}{row // width}@{hosts[server]}" for row, server in enumerate(servers.tolist()))


def make_artist_names(n_artists: int) -> tuple[str, ...]:
    """Band names: Velvet Lanterns, ..., Velvet Lanterns 2, ..."""
    bands = [f"{kind} {thing}" for thing in _THINGS for kind in _KINDS]
    return tuple(_number(bands, artist, " ") for artist in range(n_artists))


def _number(words: list[str], position: int, gap: str) -> str:
    turn = position // len(words)
    return words[position % len(words)] + (f"{gap}{turn + 1}" if turn else "")
