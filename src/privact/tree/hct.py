"""HierarchicalClusterTree: the tree over all users, its queries and its file formats."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.exports import load_function
from privact.tree import ancestry, clusters, cost
from privact.tree.ancestry import NearestUsers
from privact.tree.arrays import TreeArrays, User
from privact.tree.clusters import Cluster, Communities
from privact.tree.counts import check_count
from privact.tree.formats.hct_file import read_tree_file, write_tree_file
from privact.tree.formats.json_text import read_json, write_json
from privact.tree.formats.linkage_matrix import read_linkage, write_linkage
from privact.tree.formats.nested import read_nested
from privact.tree.formats.newick import read_newick, write_newick
from privact.tree.formats.other_libraries import make_networkx, make_pandas
from privact.tree.graft import graft_leaves
from privact.tree.layout import Int32Array

__all__ = ["HierarchicalClusterTree", "User"]


class HierarchicalClusterTree(TreeArrays):
    """A full binary tree whose leaves are users and whose every node is a cluster of the users below it.

    Of n users, leaves are nodes 0 to n-1, internal nodes n to 2n-2, the root is 2n-2 (with one user, leaf 0).
    `TreeArrays` describes the arrays. Make one with `from_children`, `from_nested`, `from_linkage`, `from_newick`,
    `from_json` or `load`. A user is an id (a whole number or text, as it was given) if the tree has
    ids, and a leaf number otherwise. Two trees are equal if they have the same clusters of the same users; `parameters`
    describe how a tree was made and do not count.
    """

    @classmethod
    def from_nested(cls, nested: Any, users: Sequence[Hashable] | None = None) -> Self:
        """A tree from pairs of pairs such as ((0, 1), 2) or (("ann", "bob"), "eve").

        nested: a leaf number or id, or a pair of such trees; ids are given leaves in alphabetical order.
        users: the ids in another order, leaf by leaf.
        """
        return cls.from_children(*read_nested(nested, users))

    @property
    def depths(self) -> Int32Array:
        """(n) number of internal nodes above each leaf."""
        return clusters.leaf_depths(self)

    def nearest(self, user: User, m: int = 10) -> NearestUsers:
        """The m users nearest to a user, nearest communities first, each with the size of the community they share.

        The cluster around the user grows from leaf to root; who joins at an earlier step comes first. Those who join at
        the same step are equally near: users of its larger clusters come first, and `tied` says how many are as near as
        the last one listed. The user is not among them. O(m), also in a huge tree.

        m: how many; more than there are gives all.
        """
        return ancestry.find_nearest(self, self.leaf_of(user), m)

    def community(self, user: User, size: int) -> Cluster:
        """The cluster of about `size` users around a user, never of more than twice as many.

        That is the smallest that has at least `size` users, or where that has more than twice as many, the next smaller
        one. Under the default balance floor it has at least half as many, for sizes from 13 up to 100, or 6 % of all users if
        that is more, in trees of at least 450; a tree without a floor may have nothing in between one user and very many.
        Users with the same report cannot be told apart, see `alike`.
        """
        return Cluster(self, ancestry.find_close(self, self.leaf_of(user), check_count("size", size, self.n_users)))

    def alike(self, user: User) -> int:
        """How many users the tree cannot tell apart from a user, the user included: 1 if it can tell all apart.

        The search halves users with the same points again and again; a cluster of at least 16 users that is halved all
        the way down is taken for such. Which of them are in a smaller community is arbitrary.
        """
        return ancestry.count_alike(self, self.leaf_of(user))

    @overload
    def communities(self, user: User) -> Communities: ...
    @overload
    def communities(self, min_size: int, max_size: int, /) -> list[Cluster]: ...
    @overload
    def communities(self, *, min_size: int, max_size: int) -> list[Cluster]: ...
    def communities(
        self, user: User | None = None, max_size: int | None = None, *, min_size: int | None = None
    ) -> Communities | list[Cluster]:
        """All clusters that hold a user, or clusters of given sizes that together hold everybody.

        communities(user): from the user alone to everybody.
        communities(min_size, max_size): clusters that hold every user once, in leaf order, with as few users as possible in
        clusters of other sizes; their `size` tells which. Under the default balance floor communities(50, 149) has none
        of other sizes from 1,000 users on.
        """
        first = user if min_size is None else min_size
        if first is None or (user is not None and min_size is not None) or (min_size is not None and max_size is None):
            raise InputError("communities takes a user, or both min_size and max_size: give one or the other")
        if max_size is not None:
            return clusters.cover_users(self, first, max_size)  # type: ignore[arg-type]
        return Communities(self, ancestry.climb_path(self, self.leaf_of(first), self.n_users))

    def lowest_common_cluster(self, a: User, b: User) -> Cluster:
        """The smallest cluster that holds two users."""
        return Cluster(self, ancestry.find_lowest_common(self, self.leaf_of(a), self.leaf_of(b)))

    def distance(self, a: User, b: User) -> int:
        """The number of users in the smallest cluster that holds both, and 0 from a user to itself.

        An ultrametric: distance(a, c) is at most the larger of distance(a, b) and distance(b, c).
        """
        common = self.lowest_common_cluster(a, b)
        return common.size if common.node >= self.n_users else 0

    def cut(self, k: int | Literal["auto"] = "auto", min_size: int = 1) -> NDArray[np.int64]:
        """A label per leaf for k clusters, found by always splitting the cluster with the most to part.

        That is the cluster with the largest split at or below it, by the smaller side; of equal ones the larger cluster,
        then the first. Labels 0 to k-1 follow the leaf order. k="auto" stops before the split that is smallest compared
        with the last one made, at no more than sqrt(n) clusters. Trees without a balance floor lose users one by one on
        the way down: with a min_size above 1 whoever falls off in a smaller group is labelled -1, and all k clusters have
        at least min_size users.
        """
        if isinstance(k, str) and k != "auto":
            raise InputError(
                f"k = {k!r} cannot be: choose a whole number from 1 to {self.n_users}, the number of users, or 'auto'"
            )
        return clusters.cut_into(self, clusters.choose_count(self, min_size) if k == "auto" else k, min_size)

    def cut_size(self, max_size: int) -> NDArray[np.int64]:
        """A label per leaf for the largest clusters that have at most `max_size` users; labels follow the leaf order."""
        return clusters.cut_by_size(self, max_size)

    def with_leaves(self, siblings: ArrayLike, users: Sequence[Hashable] | None = None) -> Self:
        """The tree with new leaves, each put beside a node of this tree; old leaves keep their numbers.

        siblings: for new leaf n+j the node of this tree that becomes its sibling; of several beside one node, later
            ones stand above earlier ones.
        users: ids of the new leaves, needed exactly when the tree has ids.
        """
        return self.from_children(*graft_leaves(self, siblings, users), self.parameters)

    def theta(self, vectors: Any) -> NDArray[np.float64]:
        """(n-1) average dissimilarity between the two sides of each internal node (the paper's Theorem 1).

        vectors: the users' vectors, row i for leaf i.
        """
        return cost.theta(self, vectors)

    def violations(self, vectors: Any) -> NDArray[np.int64]:
        """Internal nodes that break the ideal clustering property: more dissimilar inside than some ancestor.

        vectors: the users' vectors, row i for leaf i.
        """
        return cost.find_violations(self, vectors)

    def to_linkage(self, heights: ArrayLike | None = None) -> NDArray[np.float64]:
        """SciPy's linkage matrix Z, (n-1) x 4, with rows sorted by height; `cophenet` of it is `distance` by default.

        heights: one per internal node, not negative. A height below that of a node underneath is raised to it (running
            maximum from the leaves up), because SciPy asks for monotone heights. By default a node's size.
        """
        return write_linkage(self, heights)

    def to_scipy_linkage(self, heights: ArrayLike | None = None) -> NDArray[np.float64]:
        """The same as `to_linkage`: what SciPy's `dendrogram`, `fcluster` and `cophenet` take."""
        return write_linkage(self, heights)

    def to_networkx(self) -> Any:
        """A networkx DiGraph from each node to its two children; nodes have a `size`, leaves also a `user`."""
        return make_networkx(self)

    def to_pandas(self, cuts: int | Literal["auto"] | Sequence[int | Literal["auto"]] = ()) -> Any:
        """A pandas frame with a row a user: leaf, place in the order of the tree, depth and parent node.

        cuts: one or several numbers of clusters, or "auto"; column `cut_8` is then the cluster of each user in `cut(8)`.
        """
        several = (cuts,) if isinstance(cuts, (int, np.integer, str)) else cuts
        return make_pandas(self, {f"cut_{k}": self.cut(k) for k in several})

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        highlight: User | None = None,
        groups: Sequence[str | None] | None = None,
    ) -> Any:
        """Draw the tree with Matplotlib as rows of ever smaller clusters, and return the axes.

        ax: the axes to draw on; those of a new figure if absent. title: above it. highlight: a user whose clusters are outlined.
        groups: a public group for each leaf; colours then show the composition of clusters.
        """
        return load_function("privact.drawing.notebook", "plot_tree")(self, ax, title=title, highlight=highlight, groups=groups)

    def show(self, path: str | Path | None = None, *, open_browser: bool = True) -> Path:
        """Write the explorer, a page that holds the whole tree, open it in a browser, and return the file.

        path: of the file; a temporary one if absent. open_browser: whether to open it.
        """
        file: Path = load_function("privact.drawing.notebook", "show_tree")(self, path, open_browser=open_browser)
        return file

    def _repr_html_(self) -> str:
        return str(load_function("privact.drawing.notebook", "render_in_notebook")(self))

    @classmethod
    def from_linkage(cls, linkage: ArrayLike, users: Sequence[Hashable] | None = None) -> Self:
        """A tree from SciPy's linkage matrix Z; its heights and counts are not used."""
        return cls.from_children(*read_linkage(linkage), users)

    def to_newick(self) -> str:
        """Newick text; leaves are named by id or number, branch lengths put each node at a height equal to its size."""
        return write_newick(self)

    @classmethod
    def from_newick(cls, text: str, users: Sequence[Hashable] | None = None) -> Self:
        """A tree from Newick text; branch lengths, names of internal nodes and [comments] are not used.

        Names that are exactly the numbers 0 to n-1 are leaf numbers, others are ids as in `from_nested`.

        users: the ids in another order than the alphabet's, leaf by leaf.
        """
        return cls.from_children(*read_newick(text, users))

    def to_json(self) -> str:
        """One line of JSON: {"format": "privact-hct", "version": 1, "parameters", "users", "left", "right"}."""
        return write_json(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """A tree from `to_json`'s text."""
        return cls.from_children(*read_json(text))

    def save(self, path: str | Path, parameters: Mapping[str, Any] | None = None) -> None:
        """Write the tree to a checksummed file, all or nothing; same tree and parameters, same bytes.

        parameters: public facts to store in place of the tree's own.
        """
        write_tree_file(self if parameters is None else self.with_parameters(parameters), path)

    @classmethod
    def load(cls, path: str | Path, memory_map: bool = False) -> Self:
        """Read a saved tree after verifying its checksum and its arrays.

        memory_map: leave the arrays on disk, shared between processes. Only for files that nobody overwrites in
            place while they are in use; `save` never does.
        """
        layout, users, parameters = read_tree_file(path, memory_map)
        return cls(*layout, users, parameters)
