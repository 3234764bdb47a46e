"""PrivaCT: the scikit-learn style front door, which plays every device of a whole contact graph at once."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError, NotFittedError
from privact.learn.search.learn_tree import Progress, Search, generator, learn_tree
from privact.network.graph import ContactGraph
from privact.protocol.bins import assign_bins
from privact.protocol.round import check_bins, default_bins, epsilon_per_report
from privact.tree.embedding import Embedding, Thresholds, thresholds_for

if TYPE_CHECKING:
    from privact.learn.evidence.count_posterior import CountPosterior
    from privact.learn.evidence.share_posterior import SharePosterior
    from privact.learn.place import Placement
    from privact.learn.scale.engines import Engine

Profile = Literal["counts", "shares", "shares+own"]

PROFILES: tuple[Profile, ...] = ("counts", "shares", "shares+own")


class PrivaCT:
    """Learns a hierarchical cluster tree of a social network from one noisy report of each user.

    epsilon: the privacy promise per edge over everything that is sent about it; None for no noise (GenTree).
    n_bins: how many bins contacts are counted in; None for floor(ln n), or as many as there are labels.
    bins: "random", or one whole number a user: a public label that does not come from contacts, -1 for no bin.
    denoise: learn from what the reports say about the true counts, the tree of best expected cost; False takes the
        reports as they are. With search="gentree" that is the paper's method.
    profile: what of the contacts users are compared by. "counts": how many are in each bin, as in the paper. "shares": which
        share of them is in each bin, so that the tree sees who rather than how many. "shares+own": the user's own public label
        too, which asks for labels as bins. See docs/communities.md.
    search, sweeps, temperature: see `learn_tree`.
    n_clusters: how many clusters `labels_` and `fit_predict` cut the tree into.
    random_state: seed or generator, for results that can be repeated. It also draws the noise, which is simulated here:
        who guesses the seed can undo the noise, so trees learned with a seed are for research. None cannot be guessed;
        in a real round each device draws its own noise (`privact.device`).

    After `fit`: tree_, reports_ (what devices sent: integers), vectors_ (after denoising: expected counts), bins_,
    n_bins_, epsilon_report_, cost_trace_, labels_, embedding_, and round_ (the public parameters; None without noise or
    with labels given as an array).

    >>> from privact import PrivaCT
    >>> from privact.simulate.known_graphs import cliques
    >>> model = PrivaCT(epsilon=None, n_bins=3, random_state=1).fit(cliques([4, 5]).graph)
    >>> model.tree_.n_users
    9
    """

    def __init__(
        self,
        epsilon: float | None = 1.0,
        n_bins: int | None = None,
        bins: str | ArrayLike = "random",
        denoise: bool = True,
        profile: Profile = "counts",
        search: Search = "linkage+gentree",
        sweeps: int | None = None,
        temperature: float | Sequence[float] | None = None,
        n_clusters: int = 8,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.n_bins = n_bins
        self.bins = bins
        self.denoise = denoise
        self.profile = profile
        self.search = search
        self.sweeps = sweeps
        self.temperature = temperature
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, progress: Progress | None = None, engine: Engine | None = None) -> PrivaCT:
        """Play every device of a network and learn the tree.

        X: ContactGraph, networkx graph, SciPy sparse adjacency, or (m, 2) array of edges.
        y: ignored. progress: called with (what is done, how much, of how much).
        engine: where very many users are learned, from `open_engine`; the tree is the same wherever.
        """
        from privact.simulate.reports import degree_vectors, simulate_reports

        graph = as_graph(X)
        n = graph.n_users
        if n < 2:
            raise InputError(f"the graph has {n} users, but a tree needs at least 2")
        self.epsilon_report_ = None if self.epsilon is None else epsilon_per_report(self.epsilon)
        if not self.n_clusters >= 1:
            raise InputError(f"n_clusters is {self.n_clusters}, but at least 1 is needed")
        if self.profile not in PROFILES:
            raise InputError(f"profile {self.profile!r} is unknown: use one of {', '.join(PROFILES)}")
        bin_stream, noise_stream, search_stream = generator(self.random_state).spawn(3)
        self._choose_bins(graph, bin_stream)
        counts = degree_vectors(graph, self.bins_, self.n_bins_)
        self.reports_: NDArray[np.int64] = simulate_reports(counts, self.epsilon, noise_stream)
        self._learn(graph.users, search_stream, progress, engine)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Fit and return the cluster of each user, of `n_clusters`."""
        return self.fit(X).labels_

    @property
    def labels_(self) -> NDArray[np.int64]:
        """The cluster of each user when the tree is cut into `n_clusters` (or one a user, if they are fewer)."""
        self._require_fit()
        return self.tree_.cut(min(self.n_clusters, self.tree_.n_users))

    def place(self, reports: ArrayLike, users: Sequence[str] | None = None, groups: ArrayLike | None = None) -> Placement:
        """Where new users belong in the learned tree, from their reports in the same bins; nothing is learned again.

        reports: (q, K) what the new devices sent. users: their ids; by default "newcomer 0" and so on.
        groups: (q,) their own public labels, -1 for none; only profile="shares+own" looks at them.
        """
        from privact.learn.place import place

        self._require_fit()
        newcomers = self._embed(reports, groups)
        names = [f"newcomer {i}" for i in range(len(newcomers))] if users is None else [str(user) for user in users]
        return place(self.tree_, self.embedding_, newcomers, names)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters, as scikit-learn asks for them."""
        return {name: getattr(self, name) for name in inspect.signature(PrivaCT.__init__).parameters if name != "self"}

    def set_params(self, **parameters: Any) -> PrivaCT:
        """Change parameters by name."""
        for name, value in parameters.items():
            if name not in self.get_params():
                raise InputError(f"PrivaCT has no parameter {name!r}: it has {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(PrivaCT.__init__).parameters
        changed = {k: v for k, v in self.get_params().items() if v is not defaults[k].default}
        return f"PrivaCT({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def _choose_bins(self, graph: ContactGraph, rng: np.random.Generator) -> None:
        n = graph.n_users
        self._seed: bytes | None = None
        if isinstance(self.bins, str):
            if self.bins != "random":
                raise InputError(f"bins {self.bins!r} is unknown: use 'random' or one whole number a user")
            self.n_bins_ = default_bins(n) if self.n_bins is None else self.n_bins
            self._seed = rng.bytes(16)
            self.bins_ = assign_bins(graph.users, self._seed, check_bins(self.n_bins_, n))
            return
        labels = np.asarray(self.bins)
        if labels.shape != (n,) or labels.dtype.kind not in "iu":
            raise InputError(
                f"bins have shape {labels.shape} and type {labels.dtype}: give one whole number for each of {n} users"
            )
        if labels.min() < -1 or labels.max() < 0:
            raise InputError(f"bins go from {labels.min()} to {labels.max()}: they must start at 0, with -1 for no bin")
        self.n_bins_ = int(labels.max()) + 1 if self.n_bins is None else self.n_bins
        self.bins_ = labels.astype(np.int32)

    def _learn(self, users: Sequence[str], rng: np.random.Generator, progress: Progress | None, engine: Engine | None) -> None:
        self.vectors_: NDArray[Any] = self.reports_
        self._embedder = self._learned_embedder()
        self.embedding_ = self._embed(self.reports_, self.bins_)
        found = learn_tree(
            self.embedding_,
            search=self.search,
            sweeps=self.sweeps,
            temperature=self.temperature,
            random_state=rng,
            progress=progress,
            users=users,
            engine=engine,
            return_trace=True,
        )
        self.tree_ = found.tree.with_parameters(self._public_parameters())
        self.cost_trace_ = found.cost_trace

    def _learned_embedder(self) -> CountPosterior | SharePosterior | Thresholds:
        """What turns reports into points; sets vectors_ where it changes the reports."""
        from privact.learn.evidence.count_posterior import CountPosterior
        from privact.learn.evidence.share_posterior import SharePosterior

        epsilon, random_bins = (self.epsilon_report_ if self.denoise else None), self._seed is not None
        if self.profile != "counts":
            if self.profile == "shares+own" and random_bins:
                raise InputError("profile 'shares+own' needs public labels as bins: random bins say nothing about a user")
            shares = SharePosterior.fit(self.reports_, epsilon, equal_bins=random_bins, own=self.profile == "shares+own")
            self.vectors_ = self.reports_ if epsilon is None else shares.expected_counts(self.reports_)
            return shares
        if epsilon is None:
            return Thresholds.of(self.reports_, thresholds_for(len(self.reports_)))
        posterior = CountPosterior.fit(self.reports_, epsilon, equal_bins=random_bins)
        self.vectors_ = posterior.counts(self.reports_)
        return posterior

    def _embed(self, reports: ArrayLike, groups: ArrayLike | None) -> Embedding:
        from privact.learn.evidence.share_posterior import SharePosterior

        if isinstance(self._embedder, SharePosterior):
            return self._embedder.embed(reports, groups)
        return self._embedder.embed(reports)

    def _public_parameters(self) -> dict[str, Any]:
        """What a released tree says about itself. Never the seed of the noise, which would undo it."""
        facts = {
            "epsilon": self.epsilon,
            "epsilon_report": self.epsilon_report_,
            "n_bins": self.n_bins_,
            "bins": "random" if self._seed is not None else "labels",
            "bins_seed": None if self._seed is None else self._seed.hex(),
            "denoise": bool(self.denoise),
            "profile": None if self.profile == "counts" else self.profile,
            "search": self.search,
        }
        return {name: value for name, value in facts.items() if value is not None}

    def _require_fit(self) -> None:
        if not hasattr(self, "tree_"):
            raise NotFittedError("this PrivaCT has learned nothing yet: call fit(graph) first")


def as_graph(X: Any) -> ContactGraph:
    """A ContactGraph from any of the forms that `PrivaCT.fit` takes."""
    if isinstance(X, ContactGraph):
        return X
    if hasattr(X, "tocoo"):
        return ContactGraph.from_scipy(X)
    if hasattr(X, "adj") and hasattr(X, "nodes"):
        return ContactGraph.from_networkx(X)
    edges = np.asarray(X)
    if edges.ndim == 2 and edges.shape[1] == 2:
        return ContactGraph.from_edges(edges)
    raise InputError(
        f"cannot read a graph from {type(X).__name__} of shape {edges.shape}: give a ContactGraph, a networkx graph, "
        "a SciPy sparse matrix or an (m, 2) array of edges"
    )
