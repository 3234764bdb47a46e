"""What is different from the paper in each section of the report, and why: short texts in Markdown."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["DIFFERENCES"]

DIFFERENCES = MappingProxyType(
    {
        "table1": "Nothing: these are the paper's networks, the largest connected component of each. If a row differs, the files "
        "are not the paper's and nothing below can be compared with it.",
        "table2": "The paper's text says Laplace noise of scale 1/epsilon, but its numbers come out with 2/epsilon: both "
        "ends report a contact, and epsilon is the promise for both together. We use that. Bins are drawn at random; in the "
        "order of the files they would follow contacts. *Default* is not the paper's: it starts from average linkage instead "
        "of a random tree and compares users by the posterior, which costs no privacy.",
        "figure5": "The paper compares PrivaCT with CMN-DP. We add a tree that knows nothing but each user's noisy number of "
        "contacts (*degree only*) and a random tree. The degree alone does better than PrivaCT: over random bins, what the "
        "tree sees is mostly how many contacts a user has. The chains have the paper's length, at which CMN and CMN-DP have "
        "not converged; CMN sees every contact and goes far beyond if it is given more steps.",
        "table3": "The paper has no control. We add the most popular items, m random users in the place of the community, a "
        "degree-only tree and a random tree; without them the table is refused. Where the paper's formula leaves room (items "
        "that nobody in the community rated, ties), our choices are stated in the documentation. With random bins at epsilon 1 "
        "the community is worth about what m random users are. Our own answer is bins of taste groups, the whole tree and the "
        "user's own report; the last claim says how far it gets. Ratings are not protected by this mechanism.",
        "table4": "The paper ran RecQ's SERec, in which a user's social term depends only on how many contacts the user has: "
        "random users in their place give the same model. That is why PrivaCT-SERec equals SERec there. We also measure "
        "SERec as published, and implicit ALS, a strong model that knows no contacts. For users who have ratings, contacts "
        "add little to a strong model and a private tree adds nothing. No single reading of RecQ's settings gives all of the "
        "paper's numbers. Douban is run on two of five folds, because a fit is dear.",
        "table5": "The paper does not say how like two users without common items are. Of eight readings, the one here comes "
        "nearest to its ranges; none gives its numbers for delicious, nor that all users have a negative correlation. The "
        "control, which the paper lacks, deals the same ratings to users at random.",
        "distance": "The paper gives ranges of correlations. The signs on lastfm and douban come out, but m random users "
        "show them as well, so they are no evidence of what the tree knows. Like ratings against distance is the section on "
        "Table 5.",
        "communities": "Not in the paper. Its trees over random bins are the first row of each table. Taste groups are "
        "learned from ratings and never from contacts: a label that came from contacts would publish what the noise is there "
        "to hide. The promise per contact is the same for all bins. The labels alone, without any report, are a strong "
        "control.",
        "bins": "The paper takes floor(ln n) random bins and does not vary what they mean. More random bins add noise and "
        "tell no more about who the contacts are. The paper's networks have no home servers, so the second part is on a "
        "made-up network, where servers and tastes follow communities: it shows what labels can do, not what they will do "
        "elsewhere.",
        "posterior": "The paper learns from the noisy reports as they are. Here the posterior of the true counts is "
        "estimated from all reports of the round. It is computed after reports were sent and costs no privacy.",
        "scale": "The paper's networks have at most 2,848 users, and its authors do not expect theirs to work past 100,000. "
        "Networks here are made up. Seconds and memory are of the machine that ran this; a busy machine takes longer. "
        "`privact bench scale` measures a million users and more peers.",
    }
)
"""By the name of the section."""
