"""made-up networks and devices, for experiments, tests and the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.simulate.demo import Demo as Demo
    from privact.simulate.demo import play_demo as play_demo
    from privact.simulate.federated_network import FederatedNetwork as FederatedNetwork
    from privact.simulate.federated_network import make_federated_network as make_federated_network
    from privact.simulate.http_devices import Operator as Operator
    from privact.simulate.http_devices import make_reports as make_reports
    from privact.simulate.http_devices import send_reports as send_reports
    from privact.simulate.known_graphs import KnownGraph as KnownGraph
    from privact.simulate.known_graphs import make_cliques as make_cliques
    from privact.simulate.known_graphs import make_nested_cliques as make_nested_cliques
    from privact.simulate.known_graphs import make_path as make_path
    from privact.simulate.local_aggregator import LocalAggregator as LocalAggregator
    from privact.simulate.local_aggregator import run_aggregator as run_aggregator
    from privact.simulate.planning import plan_series as plan_series
    from privact.simulate.reports import degree_vectors as degree_vectors
    from privact.simulate.reports import play_devices as play_devices
    from privact.simulate.reports import simulate_reports as simulate_reports
    from privact.simulate.reports import simulated_noise as simulated_noise
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.simulate.demo": ["Demo", "play_demo"],
            "privact.simulate.federated_network": ["FederatedNetwork", "make_federated_network"],
            "privact.simulate.http_devices": ["Operator", "make_reports", "send_reports"],
            "privact.simulate.known_graphs": ["KnownGraph", "make_cliques", "make_nested_cliques", "make_path"],
            "privact.simulate.local_aggregator": ["LocalAggregator", "run_aggregator"],
            "privact.simulate.planning": ["plan_series"],
            "privact.simulate.reports": ["degree_vectors", "play_devices", "simulate_reports", "simulated_noise"],
        },
    )
