"""data + methods -> the tables and figures of the paper, and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.experiments.experiment import Experiment as Experiment
    from privact.experiments.experiment import Option as Option
    from privact.experiments.experiment import Task as Task
    from privact.experiments.registry import EXPERIMENTS as EXPERIMENTS
    from privact.experiments.report.findings import Claim as Claim
    from privact.experiments.report.findings import Findings as Findings
    from privact.experiments.report.findings import Page as Page
    from privact.experiments.report.findings import write_findings as write_findings
    from privact.experiments.running.networks import OwnNetwork as OwnNetwork
    from privact.experiments.running.networks import PaperNetworks as PaperNetworks
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.experiments.experiment": ["Experiment", "Option", "Task"],
            "privact.experiments.registry": ["EXPERIMENTS"],
            "privact.experiments.report.findings": ["Claim", "Findings", "Page", "write_findings"],
            "privact.experiments.running.networks": ["OwnNetwork", "PaperNetworks"],
        },
    )
