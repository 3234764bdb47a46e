"""Public labels that the operator uploads: lines 'user,label' -> label table."""

from __future__ import annotations

import csv
import json
from typing import Final

from privact.aggregator.domain.enrolment import checked_user_id
from privact.errors import InputError
from privact.protocol.labels import LabelTable
from privact.protocol.round import MAX_BINS

__all__ = ["build_table", "read_labels"]

_LONGEST_LABEL: Final = 200


def read_labels(body: bytes) -> str:
    """The label of each user, as JSON from normalised user id to label.

    body: UTF-8 lines 'user,label' (or with a tab); a first line that begins with 'user' is a header.
    """
    try:
        lines = body.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"the labels are not UTF-8 text at byte {error.start}: give lines 'user,label'") from None
    separator = "\t" if any("\t" in line for line in lines[:100]) else ","
    label_of: dict[str, str] = {}
    try:
        for number, row in enumerate(csv.reader(lines, delimiter=separator), 1):
            if row and not (number == 1 and row[0].strip().casefold() == "user"):
                _add(label_of, row, number)
    except csv.Error as error:
        raise InputError(f"the labels are not lines 'user,label': {error}") from None
    if not label_of:
        raise InputError("the labels name no user: give lines 'user,label'")
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
    place = {label: number for number, label in enumerate(sorted(set(label_of.values())))}
    return LabelTable.from_labels({user: place[label] for user, label in label_of.items()}, len(place), key=key)


def _add(label_of: dict[str, str], row: list[str], number: int) -> None:
    """Take one line into account."""
    if len(row) != 2 or not row[1].strip():
        raise InputError(f"line {number} of the labels has {len(row)} fields; give lines 'user,label'")
    user, label = checked_user_id(row[0]), row[1].strip()
    if len(label) > _LONGEST_LABEL:
        raise InputError(f"line {number} has a label of {len(label)} characters; at most {_LONGEST_LABEL} are taken")
    if label_of.setdefault(user, label) != label:
        raise InputError(f"line {number} gives user {user!r} a second label; list each user once")
