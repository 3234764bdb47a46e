"""Trees as Newick text, the format that tree viewers read; without recursion, however deep the tree."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from privact.errors import TreeError
from privact.tree.arrays import TreeArrays
from privact.tree.user_ids import UserIds, number_leaves

# Readers that follow the convention to the letter turn a bare underscore into a blank: such names are quoted.
_NEEDS_QUOTES = re.compile(r"[\s()\[\]':;,_]|^$")
_LENGTH = r"(?::\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?=[\s()\[\]':;,]|$))"
_TOKEN = re.compile(  # a branch length is read together with what it belongs to: half as many tokens
    rf"""(?P<open>\(+)
      | (?P<close>\)){_LENGTH}?
      | (?P<comma>,)
      | (?P<quoted>'(?:[^']|'')*'){_LENGTH}?
      | (?P<bare>[^\s()\[\]':;,]+){_LENGTH}?
      | (?P<end>;)
      | (?P<length>{_LENGTH})
      | (?P<skip>\s+|\[[^\]]*\])
      | (?P<wrong>.)""",
    re.VERBOSE | re.DOTALL,
)


def write_newick(tree: TreeArrays) -> str:
    """Newick text in the order of the canonical drawing; see `HierarchicalClusterTree.to_newick`."""
    n_users = tree.n_users
    names = list(map(str, range(n_users)) if tree.users is None else map(_quote, tree.users.names()))
    if n_users == 1:
        return names[0] + ";"
    height = tree.size.copy()
    height[:n_users] = 0
    branch_of = np.append(height[tree.parent[:-1]] - height[:-1], 0).tolist()
    opens = np.bincount(tree.start[n_users:], minlength=n_users).tolist()
    closes = np.bincount(tree.start[n_users:] + tree.size[n_users:] - 1, minlength=n_users).tolist()
    parts = []
    node = n_users  # nodes end along the leaf order in postorder, which is how they are numbered
    for leaf, opening, closing in zip(tree.order.tolist(), opens, closes, strict=True):
        parts.append(f"{'(' * opening}{names[leaf]}:{branch_of[leaf]}")
        parts.extend([f"):{branch}" for branch in branch_of[node : node + closing]])
        parts.append(",")
        node += closing
    parts[-2:] = [");"]  # the root has no branch
    return "".join(parts)


def read_newick(
    text: str, users: Sequence[Hashable] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], UserIds | None]:
    """The left and right children and the ids in Newick text; an error names the character of the first mistake."""
    names: list[str] = []
    left: list[int] = []  # leaves counted from 0, internal nodes from -1 downwards
    right: list[int] = []
    done: list[int] = []  # finished nodes that wait for their parent
    opened: list[int] = []  # how many were waiting when each open parenthesis was met
    expect_node, ended = True, False
    last = ""  # the token before, blanks and comments aside
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if kind == "skip":
            continue
        if ended:
            raise _mistake(token, "text follows the ';' that ends the tree")
        if kind == "open" and expect_node:
            opened.extend([len(done)] * len(token.group()))
        elif kind in ("bare", "quoted") and expect_node:
            name = token.group(kind)
            names.append(name if kind == "bare" else name[1:-1].replace("''", "'"))
            done.append(len(names) - 1)
            expect_node = False
        elif kind in ("bare", "quoted") and last == "close":
            pass  # the name of an internal node
        elif kind == "length" and last in ("bare", "quoted", "close"):
            pass
        elif kind == "comma" and not expect_node and opened:
            if len(done) - opened[-1] == 2:
                raise _mistake(token, "a node has a third child: only full binary trees can be read")
            expect_node = True
        elif kind == "close" and not expect_node and opened:
            if len(done) - opened.pop() != 2:
                raise _mistake(token, "a node has one child: only full binary trees can be read")
            right.append(done.pop())
            left.append(done.pop())
            done.append(-len(left))
        elif kind == "end" and not expect_node and not opened:
            ended = True
        else:
            raise _mistake(token, _explain(token, expect_node, len(opened)))
        last = kind if token.end(kind) == token.end() else "length"
    if not ended:
        raise TreeError(f"Newick text ends at character {len(text)} without the ';' that ends a tree: is it cut off?")
    return _number_nodes(names, np.array([left, right], np.int64), users)


def _number_nodes(
    names: list[str], children: NDArray[np.int64], users: Sequence[Hashable] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], UserIds | None]:
    numbers = {str(leaf): leaf for leaf in range(len(names))}
    plain: list[str | int] = [*names]
    if users is None and all(name in numbers for name in names):
        plain = [numbers[name] for name in names]
    leaves, ids = number_leaves(plain, users)
    node = np.where(children >= 0, leaves[np.maximum(children, 0)], len(names) - 1 - children)
    return node[0], node[1], ids


def _quote(name: str) -> str:
    return "'" + name.replace("'", "''") + "'" if _NEEDS_QUOTES.search(name) else name


def _explain(token: re.Match[str], expect_node: bool, depth: int) -> str:
    found = token.group()
    if found in ("'", "["):
        return f"{'a quote' if found == chr(39) else 'a comment'} is opened and never closed"
    if found == ":":
        return "':' is not followed by a branch length"
    if found == ";":
        return f"the tree ends with {depth} open parentheses" if depth else "the tree is empty"
    if found in (",", ")") and not depth and not expect_node:
        return f"{found!r} stands outside all parentheses"
    return f"found {found[:30]!r} where {'a name or (' if expect_node else 'a comma, ) or ;'} belongs"


def _mistake(token: re.Match[str], what: str) -> TreeError:
    return TreeError(f"Newick character {token.start() + 1}: {what}")
