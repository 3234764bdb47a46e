"""The official sources of the paper's datasets: addresses, terms and checksums.

Checksums are of two kinds. `archive_sha256` is of the archive as its official place gives it out; no owner publishes one, so it
is stated only where independent public projects agree on it. `contacts_sha256` and `ratings_sha256` are of what is inside (see
dataset_content.py), taken from the copies that the published numbers of this product were measured with.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from privact.errors import InputError
from privact.network.archives import Layout, read_douban, read_hetrec_delicious, read_hetrec_lastfm

__all__ = ["SOURCES", "Source", "find_source"]

_TERMS = "made available for non-commercial use; for commercial use contact {owner}. Cite the {owner} website"
_WORKSHOP = (
    "I. Cantador, P. Brusilovsky, T. Kuflik: 2nd Workshop on Information Heterogeneity and Fusion in Recommender Systems "
    "(HetRec 2011), RecSys 2011"
)


@dataclass(frozen=True)
class Source:
    """One dataset and where it comes from.

    name: of its folder. title: what it is. page: where its owner describes it. address: of the archive; None if a program
    cannot fetch it. archive: the name of the archive's file. licence: its terms, shortly. cite: what to cite.
    layout: reads the archive.
    archive_sha256: of the archive, None if not known. contacts_sha256, ratings_sha256: of the content.
    ratings_certain: whether the ratings must agree; False where how they were counted had to be inferred.
    """

    name: str
    title: str
    page: str
    address: str | None
    archive: str
    licence: str
    cite: str
    layout: Layout
    archive_sha256: str | None
    contacts_sha256: str
    ratings_sha256: str
    ratings_certain: bool = True


SOURCES = MappingProxyType(
    {
        "lastfm": Source(
            name="lastfm",
            title="HetRec 2011 Last.fm 2K: friendships of Last.fm users, and how often they played artists",
            page="https://grouplens.org/datasets/hetrec-2011/",
            address="https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-2k.zip",
            archive="hetrec2011-lastfm-2k.zip",
            licence=_TERMS.format(owner="Last.fm"),
            cite=_WORKSHOP,
            layout=read_hetrec_lastfm,
            archive_sha256="6738f48195667ff03caaab4d32ca9a3133d8cc026b7c3cdaf6ce1010e913c59c",
            contacts_sha256="310455b7275e0567ffb3affb5f17cc9ad33171fe47c22b75d4a8b271fb92e214",
            ratings_sha256="ce3939d508a6b7d0e691c188c6ffaba6135fa478b2e4aefc915016d0cd7996a6",
        ),
        "delicious": Source(
            name="delicious",
            title="HetRec 2011 Delicious 2K: mutual fans among Delicious users, and the pages they bookmarked",
            page="https://grouplens.org/datasets/hetrec-2011/",
            address="https://files.grouplens.org/datasets/hetrec2011/hetrec2011-delicious-2k.zip",
            archive="hetrec2011-delicious-2k.zip",
            licence=_TERMS.format(owner="Delicious"),
            cite=_WORKSHOP,
            layout=read_hetrec_delicious,
            archive_sha256=None,
            contacts_sha256="40d0ecaf0eef6371fce0deca53e827d61a63a2529f956f971ac257f058306e2e",
            ratings_sha256="88f8a6b5bd925dac467d66baa633c9adb860f4f67f0e247c4b84d46dd4346e33",
            ratings_certain=False,
        ),
        "douban": Source(
            name="douban",
            title="Douban of the RecQ project: who trusts whom among 2,848 users, and their ratings",
            page="https://github.com/Coder-Yu/QRec (its README links a file share: https://pan.baidu.com/s/1hrJP6rq)",
            address=None,
            archive="douban.zip",
            licence="none is stated; it holds numbers in place of names and is passed around for research: treat it as for "
            "non-commercial research only",
            cite="G. Zhao, X. Qian, X. Xie: User-Service Rating Prediction by Exploring Social Users' Rating Behaviors, IEEE "
            "Transactions on Multimedia 18(3), 2016",
            layout=read_douban,
            archive_sha256=None,
            contacts_sha256="814ee620f5fa34e2b2ef2a4485a6f6fd459fbab56b12dfc0ff563c4fedef3104",
            ratings_sha256="bce4e4c9507d4f6792a279a641437ad9120497c5c8bc1311ddb8994b74058bff",
        ),
    }
)
"""By name."""


def find_source(name: str) -> Source:
    """The source of a dataset, or InputError."""
    if name not in SOURCES:
        raise InputError(f"dataset {name!r} is not one of {', '.join(SOURCES)}")
    return SOURCES[name]
