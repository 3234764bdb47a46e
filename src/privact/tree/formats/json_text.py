"""Trees as one line of JSON."""

from __future__ import annotations

import json
from typing import Any

from privact.errors import TreeError
from privact.tree.arrays import TreeArrays

JSON_FORMAT = "privact-hct"
JSON_VERSION = 1


def write_json(tree: TreeArrays) -> str:
    """One line of flat JSON, so that depth does not matter; see `HierarchicalClusterTree.to_json`."""
    content = {
        "format": JSON_FORMAT,
        "version": JSON_VERSION,
        "parameters": dict(tree.parameters),
        "users": None if tree.users is None else list(tree.users),
        "left": tree.left.tolist(),
        "right": tree.right.tolist(),
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def read_json(text: str) -> tuple[list[int], list[int], list[str] | None, dict[str, Any]]:
    """The left and right children, ids and parameters in the text of `write_json`; internal nodes may be numbered in any way."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TreeError(f"this is not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != JSON_FORMAT:
        raise TreeError(f'this JSON is not a tree: it needs "format": "{JSON_FORMAT}" beside "left" and "right"')
    if content.get("version") != JSON_VERSION:
        raise TreeError(
            f"this JSON is version {content.get('version')!r}; this privact reads version {JSON_VERSION}: update privact"
        )
    users, parameters = content.get("users"), content.get("parameters", {})
    if not isinstance(users, list | None) or not isinstance(parameters, dict):
        raise TreeError('in this JSON "users" must be a list or null, and "parameters" an object')
    for side in ("left", "right"):
        if not isinstance(content.get(side), list):
            raise TreeError(f'this JSON has no list "{side}" with one child per internal node')
    return content["left"], content["right"], users, parameters
