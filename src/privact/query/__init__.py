"""tree + user -> close communities, nearest users, and how good they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.query.link_prediction import find_community_sizes as find_community_sizes
    from privact.query.link_prediction import measure_link_auc as measure_link_auc
    from privact.query.one_round import OneRoundWarning as OneRoundWarning
    from privact.query.quality import TreeQuality as TreeQuality
    from privact.query.quality import draw_random_tree as draw_random_tree
    from privact.query.quality import find_near_users as find_near_users
    from privact.query.quality import measure_contact_share as measure_contact_share
    from privact.query.quality import measure_contact_shares as measure_contact_shares
    from privact.query.quality import measure_tree_quality as measure_tree_quality
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.query.link_prediction": ["find_community_sizes", "measure_link_auc"],
            "privact.query.one_round": ["OneRoundWarning"],
            "privact.query.quality": [
                "TreeQuality",
                "draw_random_tree",
                "find_near_users",
                "measure_contact_share",
                "measure_contact_shares",
                "measure_tree_quality",
            ],
        },
    )
