"""reports -> hierarchical cluster tree."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.learn.evidence.count_posterior import CountPosterior as CountPosterior
    from privact.learn.evidence.evidence_file import read_evidence as read_evidence
    from privact.learn.evidence.evidence_file import write_evidence as write_evidence
    from privact.learn.evidence.plausible import plausible_counts as plausible_counts
    from privact.learn.evidence.profile import Evidence as Evidence
    from privact.learn.evidence.profile import RoundReports as RoundReports
    from privact.learn.evidence.share_posterior import SharePosterior as SharePosterior
    from privact.learn.limits import Limits as Limits
    from privact.learn.pipeline import Learned as Learned
    from privact.learn.pipeline import LearnSettings as LearnSettings
    from privact.learn.pipeline import fit_evidence as fit_evidence
    from privact.learn.pipeline import learn_from_reports as learn_from_reports
    from privact.learn.placement import Placement as Placement
    from privact.learn.placement import place as place
    from privact.learn.reports.report_files import read_reports as read_reports
    from privact.learn.reports.report_table import ReportTable as ReportTable
    from privact.learn.reports.report_table import write_report_table as write_report_table
    from privact.learn.scale.engines import open_engine as open_engine
    from privact.learn.scale.task_runner import Engine as Engine
    from privact.learn.search.learn_tree import LearnedTree as LearnedTree
    from privact.learn.search.learn_tree import learn_tree as learn_tree
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.learn.evidence.count_posterior": ["CountPosterior"],
            "privact.learn.evidence.evidence_file": ["read_evidence", "write_evidence"],
            "privact.learn.evidence.plausible": ["plausible_counts"],
            "privact.learn.evidence.profile": ["Evidence", "RoundReports"],
            "privact.learn.evidence.share_posterior": ["SharePosterior"],
            "privact.learn.limits": ["Limits"],
            "privact.learn.pipeline": ["Learned", "LearnSettings", "fit_evidence", "learn_from_reports"],
            "privact.learn.placement": ["Placement", "place"],
            "privact.learn.reports.report_files": ["read_reports"],
            "privact.learn.reports.report_table": ["ReportTable", "write_report_table"],
            "privact.learn.scale.engines": ["open_engine"],
            "privact.learn.scale.task_runner": ["Engine"],
            "privact.learn.search.learn_tree": ["LearnedTree", "learn_tree"],
        },
    )
