"""PrivaCT: the scikit-learn style front door, which plays every device of a whole contact graph at once."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.ids import UserId, keep_id
from privact.learn.evidence.profile import RoundReports
from privact.learn.evidence.profiles import DEFAULT_PROFILE, find_profile
from privact.learn.evidence.series.round_bins import choose_first_bins
from privact.learn.evidence.series.series_length import choose_rounds
from privact.learn.evidence.series_profile import SEES_NOTHING, SERIES_PROFILE, as_series, series_posterior
from privact.learn.pipeline import Learned, LearnSettings, learn_from_reports
from privact.learn.placement import Placement, place
from privact.learn.reports.report_table import ReportTable
from privact.learn.search.learn_tree import choose_balance, generator
from privact.learn.search.searches import DEFAULT_SEARCH
from privact.network.graph import ContactGraph
from privact.network.graph_inputs import GraphInput, as_graph
from privact.network.user_labels import number_bins
from privact.progress import Progress, open_progress
from privact.protocol.bins import assign_bins
from privact.protocol.promise import PROTECTS_NOTHING, public_parameters, say_nothing_protected
from privact.protocol.round import check_bins, default_bins, epsilon_per_report
from privact.protocol.round_series import MAX_SERIES_ROUNDS
from privact.query.one_round import ONE_ROUND, OneRoundWarning, is_one_round
from privact.sklearn_contract import SklearnClusterer, make_not_fitted_error
from privact.tree.embedding import Embedding

if TYPE_CHECKING:
    from privact.learn.evidence.profile import Evidence
    from privact.learn.scale.task_runner import Engine
    from privact.learn.search.search import Temperature

__all__ = ["PrivaCT"]


class PrivaCT(SklearnClusterer):
    """Learns a hierarchical cluster tree of a social network from one noisy report of each user, or from a series of them.

    epsilon: the privacy promise per edge over everything that is sent about it; None for no noise (GenTree).
    n_bins: how many bins contacts are counted in; None for floor(ln n), or as many as there are labels.
    bins: "random", or a public label of each user that does not come from contacts: whole numbers with -1 for no bin, or any
        labels with None for none, in the order of users; a dict or Series from id to label; or the name of a node attribute.
    denoise: learn from what the reports say about the true counts, the tree of best expected cost; False takes the
        reports as they are. With search="gentree" that is the paper's method.
    profile: what of the contacts users are compared by. "counts": how many are in each bin, as in the paper. "shares": which
        share of them is in each bin, so that the tree sees who rather than how many. "shares+own": the user's own public label
        too, which asks for labels as bins. See docs/communities.md.
    search, sweeps, temperature: see `learn_tree`.
    balance: how lopsided clusters may split, see `learn_tree`. None is 0.03 for the default search; 0 searches the tree of the
        highest cost, as the paper does, and peels off users one by one.
    n_clusters: how many clusters `labels_` and `fit_predict` cut the tree into, at most one a user; "auto" lets the tree say.
    random_state: seed, generator or NumPy's old RandomState, for results that can be repeated. It also draws the noise, which is
        simulated here: who guesses the seed can undo the noise, so trees learned with a seed are for research. None cannot be
        guessed; in a real round each device draws its own noise (`privact.device`).
    rounds: how many rounds share epsilon. One round over random bins sees how many contacts a user has, not who they are; in a
        series the groups found so far are the bins of the next round, so it finds communities without labels. 1 is the paper's.

    After `fit`: tree_, reports_ (what devices sent: integers), vectors_ (after denoising: expected counts), bins_, n_bins_,
    epsilon_report_, evidence_ (what the reports say about the counts), cost_trace_, labels_, children_, embedding_ and rounds_
    (of each round: bins, n_bins, reports, epsilon, evidence). With several rounds also groups_ (the likeliest group of each user;
    a single one where none are seen) and sees_communities_ (whether the reports tell who contacts are, not only how many);
    reports_ has all rounds.

    >>> from privact import PrivaCT
    >>> from privact.simulate.known_graphs import make_cliques
    >>> model = PrivaCT(epsilon=None, n_bins=3, random_state=1).fit(make_cliques([4, 5]).graph)
    >>> model.tree_.n_users
    9
    """

    def __init__(
        self,
        epsilon: float | None = 1.0,
        n_bins: int | None = None,
        bins: Any = "random",
        denoise: bool = True,
        profile: str = DEFAULT_PROFILE,
        search: str = DEFAULT_SEARCH,
        sweeps: int | None = None,
        temperature: Temperature | None = None,
        balance: float | None = None,
        n_clusters: int | Literal["auto"] = "auto",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        rounds: int = 1,
    ) -> None:
        self.epsilon = epsilon
        self.n_bins = n_bins
        self.bins = bins
        self.denoise = denoise
        self.profile = profile
        self.search = search
        self.sweeps = sweeps
        self.temperature = temperature
        self.balance = balance
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.rounds = rounds

    def fit(self, X: GraphInput, y: Any = None, progress: Progress | bool | None = None, engine: Engine | None = None) -> PrivaCT:
        """Play every device of a network and learn the tree.

        X: the network: a ContactGraph, a networkx graph, a SciPy or dense adjacency matrix, pairs of ids, a data frame, or the
            path of a file; `as_graph` says how each is read. Weights and direction are not used, which a warning says.
        y: ignored. progress: True for a bar in a terminal or notebook, or a function that is called with the stage, how much
            of it is done, and the total.
        engine: where very many users are learned, from `open_engine`; the tree is the same wherever.
        """
        graph = as_graph(X)
        self._check_parameters(graph.n_users)
        self._check_rounds()
        choose_balance(self.balance, self.search, self.temperature)
        bin_stream, noise_stream, search_stream = generator(self.random_state).spawn(3)
        self._choose_bins(graph, X, bin_stream)
        if getattr(X, "shape", None) == (graph.n_users, graph.n_users):
            self.n_features_in_ = graph.n_users
        with open_progress(progress) as tell:
            if self.rounds > 1:
                self._fit_series(graph, noise_stream, search_stream, engine, tell)
            else:
                self._fit_round(graph, noise_stream, search_stream, engine, tell)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Fit and return the cluster of each user: labels_."""
        return self.fit(X).labels_

    @property
    def labels_(self) -> NDArray[np.int64]:
        """The cluster of each user when the tree is cut into `n_clusters`."""
        self._require_fit()
        if is_one_round(self.tree_.parameters):
            warnings.warn(
                f"{ONE_ROUND}: for example PrivaCT(rounds={choose_rounds(self.epsilon)})", OneRoundWarning, stacklevel=2
            )
        return self.tree_.cut(self.n_clusters)

    @property
    def children_(self) -> NDArray[np.int64]:
        """(n - 1, 2) the children of each internal node n + i, as `AgglomerativeClustering` has them; leaves are 0 to n - 1."""
        self._require_fit()
        return np.column_stack((self.tree_.left, self.tree_.right)).astype(np.int64)

    @property
    def n_clusters_(self) -> int:
        """How many clusters `labels_` has: `n_clusters`, or what the tree says where that is "auto"."""
        self._require_fit()
        return int(self.tree_.cut(self.n_clusters).max()) + 1

    def place(self, reports: ArrayLike, users: Sequence[Hashable] | None = None, groups: ArrayLike | None = None) -> Placement:
        """Where new users belong in the learned tree, from their reports in the same bins; nothing is learned again.

        reports: (q, K) what the new devices sent. users: their ids; by default "newcomer 0" and so on.
        groups: (q,) their own public labels, -1 for none; only profile="shares+own" looks at them.
        """
        self._require_fit()
        newcomers = self.evidence_.embed(reports, groups)
        names: list[UserId] = (
            [f"newcomer {i}" for i in range(len(newcomers))] if users is None else [keep_id(user) for user in users]
        )
        return place(self.tree_, self.embedding_, newcomers, names)

    def _check_parameters(self, n_users: int) -> None:
        """Refuse or warn about what would otherwise be taken for something else."""
        if n_users < 2:
            raise InputError(f"the graph has {n_users} user, n_samples = {n_users}, but a tree needs at least 2")
        if not isinstance(self.denoise, (bool, np.bool_)):
            raise InputError(f"denoise is {self.denoise!r}: give True or False")
        if self.n_clusters != "auto":
            if not isinstance(self.n_clusters, (int, np.integer)) or isinstance(self.n_clusters, bool):
                raise InputError(f"n_clusters is {self.n_clusters!r}: give a whole number, or 'auto'")
            if not 1 <= self.n_clusters <= n_users:
                raise InputError(f"n_clusters is {self.n_clusters}, outside 1 to the {n_users} users of the graph")
        self.epsilon_report_ = None if self.epsilon is None else epsilon_per_report(self.epsilon)
        if self.epsilon is not None and self.epsilon > PROTECTS_NOTHING:
            warnings.warn(f"{say_nothing_protected(self.epsilon)}, and None says that there is no noise", stacklevel=3)

    def _choose_bins(self, graph: ContactGraph, X: Any, rng: np.random.Generator) -> None:
        n = graph.n_users
        self._seed: bytes | None = None
        if isinstance(self.bins, str) and self.bins == "random":
            usual = default_bins(n) if self.rounds == 1 else choose_first_bins(self._report_epsilon(), n)
            self.n_bins_ = usual if self.n_bins is None else self.n_bins
            self._seed = rng.bytes(16)
            self.bins_ = assign_bins(graph.names, self._seed, check_bins(self.n_bins_, n))
            return
        self.bins_ = number_bins(self.bins, graph, X)
        self.n_bins_ = int(self.bins_.max()) + 1 if self.n_bins is None else self.n_bins

    def _fit_round(
        self,
        graph: ContactGraph,
        noise: np.random.Generator,
        rng: np.random.Generator,
        engine: Engine | None,
        progress: Progress,
    ) -> None:
        from privact.simulate.reports import degree_vectors, simulate_reports
        from privact.simulate.series import PlayedRound

        counts = degree_vectors(graph, self.bins_, self.n_bins_)
        self.reports_: NDArray[np.int64] = simulate_reports(counts, self.epsilon, noise)
        self.rounds_ = [PlayedRound(self.bins_, self.n_bins_, self.reports_, self.epsilon)]
        self._learn(graph.users, rng, engine, progress)

    def _report_epsilon(self) -> float | None:
        """The privacy parameter of one report: rounds share epsilon."""
        return None if self.epsilon is None else epsilon_per_report(self.epsilon / self.rounds)

    def _learn(self, users: Sequence[UserId], rng: np.random.Generator, engine: Engine | None, progress: Progress) -> None:
        random_bins = self._seed is not None
        learned = learn_from_reports(
            RoundReports(
                ReportTable(self.reports_, users), self.epsilon_report_, random_bins, None if random_bins else self.bins_
            ),
            LearnSettings(self.profile, bool(self.denoise), self.search, self.sweeps, self.temperature, self.balance, rng),
            parameters=public_parameters(self.epsilon, self.n_bins_, random_bins, self._seed),
            engine=engine,
            progress=progress,
        )
        self._keep(learned)

    def _keep(self, learned: Learned) -> None:
        self.tree_ = learned.tree
        self.evidence_: Evidence = learned.evidence
        self.cost_trace_ = learned.cost_trace
        for name in ("vectors_", "embedding_"):  # of an earlier fit
            self.__dict__.pop(name, None)

    def _check_rounds(self) -> None:
        find_profile(self.profile)
        if not isinstance(self.rounds, (int, np.integer)) or isinstance(self.rounds, bool) or self.rounds < 1:
            raise InputError(f"rounds is {self.rounds!r}: give a whole number of at least 1")
        if self.rounds > MAX_SERIES_ROUNDS:
            usual = choose_rounds(self.epsilon)
            raise InputError(f"rounds is {self.rounds}: a series has at most {MAX_SERIES_ROUNDS} rounds, and {usual} are usual")
        if self.rounds == 1 and self.profile == SERIES_PROFILE:
            raise InputError("profile 'series' needs two rounds or more: give for example rounds=4")
        if self.rounds > 1 and self.profile not in (DEFAULT_PROFILE, SERIES_PROFILE):
            raise InputError(
                f"profile {self.profile!r} compares users by one round, not {self.rounds}: leave profile out, or give rounds=1"
            )

    def _fit_series(
        self,
        graph: ContactGraph,
        noise: np.random.Generator,
        rng: np.random.Generator,
        engine: Engine | None,
        progress: Progress,
    ) -> None:
        from privact.simulate.series import play_series

        random_bins = self._seed is not None
        played = play_series(graph, self.epsilon, int(self.rounds), self.bins_, self.n_bins_, noise, progress)
        self.epsilon_report_ = played[0].epsilon_report
        reports = [
            RoundReports(ReportTable(each.reports, graph.users), each.epsilon_report, random_bins and t == 0, each.bins)
            for t, each in enumerate(played)
        ]
        facts = public_parameters(self.epsilon, self.n_bins_, random_bins, self._seed)
        if self.epsilon_report_ is not None:
            facts["epsilon_report"] = self.epsilon_report_  # of each report, of which there is one a round
        learned = learn_from_reports(
            reports,
            LearnSettings(SERIES_PROFILE, bool(self.denoise), self.search, self.sweeps, self.temperature, self.balance, rng),
            parameters=facts | {"rounds": int(self.rounds)},
            engine=engine,
            progress=progress,
        )
        self._keep(learned)
        known = series_posterior(learned.evidence)
        self.rounds_ = [each._replace(evidence=float(figure)) for each, figure in zip(played, known.round_evidence, strict=True)]
        self.reports_ = np.hstack([each.reports for each in played])
        found = known.find_likeliest(as_series(reports)) if known.sees_communities else np.zeros(graph.n_users, np.int64)
        self.groups_: NDArray[np.int64] = found
        self.sees_communities_ = known.sees_communities
        if not known.sees_communities:
            warnings.warn(SEES_NOTHING, stacklevel=3)

    @cached_property
    def vectors_(self) -> NDArray[Any]:
        """(n, K) the expected counts given the reports; the reports themselves where they are taken as they are."""
        self._require_fit()
        return self.evidence_.expected_counts(self.reports_)

    @cached_property
    def embedding_(self) -> Embedding:
        """The points that users are compared by."""
        self._require_fit()
        return self.evidence_.embed(self.reports_, self.bins_)

    def _require_fit(self) -> None:
        if not hasattr(self, "tree_"):
            raise make_not_fitted_error("this PrivaCT has learned nothing yet: call fit(graph) first")
