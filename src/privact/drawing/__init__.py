"""tree -> pictures, and the page of the explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.drawing.picture import save_picture as save_picture
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.drawing.picture": ["save_picture"],
        },
    )
