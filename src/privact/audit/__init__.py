"""mechanism -> empirical bound on what it leaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.audit.epsilon import EpsilonAudit as EpsilonAudit
    from privact.audit.epsilon import audit_epsilon as audit_epsilon
    from privact.audit.leakage import inspect_release as inspect_release
    from privact.audit.poisoning import measure_poisoning as measure_poisoning
    from privact.audit.series_epsilon import SeriesAudit as SeriesAudit
    from privact.audit.series_epsilon import audit_series as audit_series
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.audit.epsilon": ["EpsilonAudit", "audit_epsilon"],
            "privact.audit.leakage": ["inspect_release"],
            "privact.audit.poisoning": ["measure_poisoning"],
            "privact.audit.series_epsilon": ["SeriesAudit", "audit_series"],
        },
    )
