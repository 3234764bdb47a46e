"""Public labels that the operator uploads: lines 'user,label' -> label table."""

from __future__ import annotations

import json

from privact.aggregator.domain.enrolment import check_user_id
from privact.errors import InputError
from privact.protocol.label_files import number_labels, parse_labels
from privact.protocol.labels import LabelTable
from privact.protocol.round import MAX_BINS

__all__ = ["build_table", "read_labels"]


def read_labels(body: bytes) -> str:
    """The label of each user, as JSON from normalised user id to label.

    body: a file of labels.
    """
    label_of = parse_labels(body, check_user_id)
    n_labels = len(set(label_of.values()))
    if n_labels > MAX_BINS:
        raise InputError(f"{n_labels} different labels are more than {MAX_BINS}: use coarser labels")
    return json.dumps(label_of)


def build_table(source: str, key: bytes) -> LabelTable:
    """The label table of a round; labels are numbered in alphabetical order.

    source: what read_labels gave.
    key: 16 fresh random bytes.
    """
    label_of: dict[str, str] = json.loads(source)
    numbers, n_labels = number_labels(label_of.values())
    return LabelTable.from_labels(dict(zip(label_of, numbers, strict=True)), n_labels, key=key)
