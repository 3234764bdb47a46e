"""docstrings of this house -> Markdown.

An argument is a line `name: what it means`, continued by indented lines; an example begins with `>>>`; the tree of exceptions is
drawn with lines. Markdown would run all of these together.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

__all__ = ["HouseDocstrings", "as_markdown"]

_ARGUMENT = re.compile(r"(\*{0,2}[a-z_][\w.]*(?:, \*{0,2}[a-z_]\w*)*): (?=\S)")
_DRAWN = re.compile("[├└│]")


def as_markdown(text: str) -> str:
    """A docstring of ours in Markdown.

    >>> print(as_markdown("Count.\\n\\nn: how many,\\n    in all. m: more."))
    Count.
    <BLANKLINE>
    - **n**: how many,
        in all. m: more.
    """
    return "\n\n".join(_paragraph(paragraph) for paragraph in text.split("\n\n"))


def _paragraph(text: str) -> str:
    """One paragraph: an example, a drawing, arguments, or prose."""
    if text.startswith(">>>"):
        return f"```pycon\n{text}\n```"
    if _DRAWN.search(text):
        return f"```text\n{text}\n```"
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        argument = _ARGUMENT.match(line)
        if argument:
            lines += [] if inside or not lines else [""]
            line = f"- **{argument[1]}**: {line[argument.end() :]}"
            inside = True
        elif inside and not line.startswith("    "):
            lines += [""]
            inside = False
        lines.append(line.replace("][", "]\\["))  # an index is not a link
    return "\n".join(lines)


class HouseDocstrings(Extension):
    """Rewrites docstrings as griffe reads them, for mkdocstrings."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """A function, class, module or attribute was read."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
