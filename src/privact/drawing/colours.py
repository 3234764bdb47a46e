"""Colours of blocks: hue tells branches or groups apart, lightness tells size, so that a picture is readable without colour too.

Colours are chosen in Oklch (Ottosson 2020), where equal steps look equally large.
"""

from __future__ import annotations

import math

from privact.query.blocks import Block

__all__ = ["EVERYBODY", "INK", "OUTLINE", "POOL", "QUIET", "branch_colour", "group_colour", "ink_on", "sample_colour"]

EVERYBODY = "#3b4252"
POOL = "#e6e8eb"
INK = "#1d2129"
QUIET = "#555b66"
OUTLINE = "#d1105a"
_PAPER = "#ffffff"

_DARKEST, _LIGHTEST = 0.63, 0.89
_SHARE_OF_LIGHTEST = 1 / 500  # of all users
_CHROMA = 0.115
_BRANCH_HUES = 255.0, -300.0  # blue, green, yellow, orange, red, violet: the two ends stay apart
_FIRST_GROUP_HUE = 255.0


def branch_colour(block: Block) -> str:
    """The colour of a block by its place from left to right: blocks of one branch have neighbouring hues."""
    if fixed := _find_fixed(block):
        return fixed
    begin, span = _BRANCH_HUES
    lightness = _lightness(block)
    return _from_oklch(lightness, _chroma(lightness), begin + span * (block.begin + block.end) / 2)


def group_colour(block: Block, group: int, n_groups: int, share: float) -> str:
    """The colour of a block by the group that most of its users are in; grey where the groups are mixed.

    group: number of the group, 0 to n_groups - 1. share: of the block's users who are in it.
    """
    if fixed := _find_fixed(block):
        return fixed
    lightness = _lightness(block)
    return _from_oklch(lightness, _chroma(lightness) * _purity(share), _FIRST_GROUP_HUE + 360.0 * group / n_groups)


def sample_colour(group: int, n_groups: int) -> str:
    """The colour of a group in a legend."""
    return _from_oklch(0.76, _chroma(0.76), _FIRST_GROUP_HUE + 360.0 * group / n_groups)


def ink_on(colour: str) -> str:
    """Dark or white text, whichever has the higher contrast on a colour (WCAG 2)."""
    return INK if _contrast(colour, INK) >= _contrast(colour, _PAPER) else _PAPER


def _find_fixed(block: Block) -> str | None:
    if block.first_row == 0:
        return EVERYBODY
    return POOL if block.is_pool else None


def _lightness(block: Block) -> float:
    smallness = math.log(block.end - block.begin) / math.log(_SHARE_OF_LIGHTEST)
    return _DARKEST + (_LIGHTEST - _DARKEST) * min(smallness, 1.0)


def _chroma(lightness: float) -> float:
    return _CHROMA * (1.0 - 0.4 * (lightness - _DARKEST) / (_LIGHTEST - _DARKEST))


def _purity(share: float) -> float:
    """0 up to a quarter, 1 from three quarters on."""
    return min(max(2.0 * (share - 0.25), 0.0), 1.0)


def _contrast(one: str, other: str) -> float:
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_to_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _to_linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _from_oklch(lightness: float, chroma: float, hue: float) -> str:
    """sRGB of an Oklch colour; what a screen cannot show is clipped."""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _to_screen(value)):02x}" for value in linear)


def _to_screen(value: float) -> float:
    value = min(max(value, 0.0), 1.0)
    return 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
