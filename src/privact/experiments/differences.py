"""What is done differently from the paper in each section of the report, and why: short texts in Markdown, written by hand.

They hold before anything is measured: method, data, controls, conventions. What comes out is said by numbers and verdicts alone.
"""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["DIFFERENCES"]

DIFFERENCES = MappingProxyType(
    {
        "table1": "Nothing: these are the paper's networks, the largest connected component of each. If a row differs, the "
        "files are not the paper's and nothing below can be compared with it.",
        "table2": "The paper's text says Laplace noise of scale 1/epsilon. Here the scale is 2/epsilon: both ends report a "
        "contact, and epsilon is the promise for both together. Bins are drawn at random, so that they cannot follow the order "
        "of the files. *Default* is not the paper's: it starts from average linkage instead of a random tree and compares "
        "users by the posterior of their counts, which costs no privacy, as it is computed from the same reports.",
        "figure5": "The paper compares PrivaCT with CMN-DP. We add a tree that knows nothing but each user's noisy number of "
        "contacts (*degree only*) and a random tree, because how many contacts a user has shows in every bin: without them one "
        "cannot tell what else a tree knows. CMN-DP spends all of epsilon on the tree, as nothing else is judged here. The "
        "chains have the paper's length; they were not run on until they settle.",
        "table3": "The paper has no control. We add the most popular items, m random users in the place of the community, a "
        "degree-only tree and a random tree; without them the table is refused. Where the paper's formula leaves room: items "
        "that nobody in the community rated come after all others, by itemAvg, and of equal scores the smaller item number is "
        "first, with items in random order. Our own method is bins of taste groups, the whole tree and the user's own report; "
        "taste groups, and how much each source is believed, are learned from the training ratings alone. Ratings are not "
        "protected by this mechanism.",
        "table4": "The paper ran RecQ's SERec, in which a user's social term depends only on how many contacts the user has: "
        "random users in their place are the same model. So we also run SERec as published, and implicit ALS, which knows no "
        "contacts. Items are ranked by preference, as RecQ does; further rows rank by exposure times preference. RecQ's "
        "variant has RecQ's settings; those of the other models are chosen on ratings hidden inside the training part. All "
        "five folds are run, with three seeds each for trees and random users; of random users RecQ's variant sees no more than "
        "their number, which no seed changes, so there it is one. SERec as published learns 14 rounds without anybody near, once "
        "a fold, and 3 more with each kind of neighbours or with nobody. A quick look is one fold and one seed of lastfm.",
        "table5": "The paper does not say how like two users without common items are. Here, with partial profiles, two users "
        "who share fewer than two items, or who rated all of them the same, have likeness 0; with full profiles an item that a "
        "user did not rate counts as 0. The control, which the paper lacks, deals the same ratings to users at random.",
        "distance": "The paper gives ranges of correlations without a control. Here m random users, a degree-only tree and a "
        "random tree go through the same recommender: a correlation that they show as well is no evidence of what the tree "
        "knows. Like ratings against distance is the section on Table 5.",
        "communities": "Not in the paper. The first row of each table has its bins, floor(ln n) random ones. Taste groups are "
        "learned from ratings and never from contacts: a label that came from contacts would publish what the noise is there "
        "to hide. The promise per contact is the same for all bins. Controls are the labels alone without any report, the "
        "number of contacts alone, and a random tree.",
        "bins": "The paper takes floor(ln n) random bins and varies neither their number nor what they mean; here both are "
        "varied. Its networks have no home servers, so the second part is on a made-up network, in which servers and tastes "
        "follow communities by construction: it can show what labels do there, not what they will do elsewhere.",
        "posterior": "The paper learns from the noisy reports as they are. Here the posterior of the true counts is estimated "
        "from all reports of the round. It is computed after reports were sent and costs no privacy.",
        "scale": "The paper's networks have at most 2,848 users, and its authors do not expect theirs to work past 100,000. "
        "Networks here are made up. Seconds and memory are of the machine that ran this; a busy machine takes longer. `privact "
        "bench scale` measures a million users and more peers.",
    }
)
"""By the name of the section."""
