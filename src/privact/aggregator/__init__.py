"""reports -> closed round -> released tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.aggregator.http.app import Aggregator as Aggregator
    from privact.aggregator.http.app import create_app as create_app
    from privact.aggregator.server import serve as serve
    from privact.aggregator.settings import Settings as Settings
    from privact.aggregator.settings import read_settings as read_settings
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.aggregator.http.app": ["Aggregator", "create_app"],
            "privact.aggregator.server": ["serve"],
            "privact.aggregator.settings": ["Settings", "read_settings"],
        },
    )
