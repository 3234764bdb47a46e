"""Files of public labels: lines 'user<TAB>label' or 'user,label' <-> the label of each user.

UTF-8, separated by tabs if one of the first lines has one, else by commas, quoted as in CSV. Empty lines are skipped, and so is
a first line whose first field is 'user'. Operators upload such files, and commands read and write them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from privact.errors import InputError
from privact.protocol.users import normalise_user_id

__all__ = ["format_labels", "number_labels", "parse_labels"]

_LONGEST_LABEL: Final = 200
_HEADING: Final = "user"


def parse_labels(data: bytes, spell: Callable[[str], str] = str.strip) -> dict[str, str]:
    """The label of each user, in the order of the file.

    data: the content of the file.
    spell: from an id as it is written to the one under which it is returned; by default only blanks around it are dropped.
    """
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"the labels are not UTF-8 text at byte {error.start}: give lines 'user,label'") from None
    separator = "\t" if any("\t" in line for line in lines[:100]) else ","
    label_of: dict[str, str] = {}
    try:
        for number, row in enumerate(csv.reader(lines, delimiter=separator), 1):
            if row and not (number == 1 and row[0].strip().casefold() == _HEADING):
                user, label = _user_and_label(row, number, spell)
                if label_of.setdefault(user, label) != label:
                    raise InputError(f"line {number} gives user {user!r} a second label; list each user once")
    except csv.Error as error:
        raise InputError(f"the labels are not lines 'user,label': {error}") from None
    if not label_of:
        raise InputError("the labels name no user: give lines 'user,label'")
    return label_of


def format_labels(label_of: Mapping[str, str]) -> bytes:
    """The file with a line 'user<TAB>label' for each user, in which every reader finds the same users.

    label_of: the label of each user; two spellings of one id are refused.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    spelled: dict[str, str] = {}
    for user, label in label_of.items():
        if not user.isprintable() or user != user.strip():
            raise InputError(f"user id {user!r} cannot stand in a file of labels: remove blanks at its ends and controls")
        normal = normalise_user_id(user)
        if normal in spelled:
            raise InputError(f"{spelled[normal]!r} and {user!r} are one user in a round: spell the id one way")
        if not spelled and normal == _HEADING:
            writer.writerow((_HEADING, "label"))  # else this user would be taken for the heading
        spelled[normal] = user
        writer.writerow((user, label))
    return text.getvalue().encode()


def number_labels(labels: Iterable[str | None]) -> tuple[list[int], int]:
    """Labels as bins 0, 1, ... in alphabetical order, -1 for none; and how many bins there are."""
    given = list(labels)
    names = sorted({label for label in given if label is not None})
    place = {name: number for number, name in enumerate(names)}
    return [-1 if label is None else place[label] for label in given], len(names)


def _user_and_label(row: Sequence[str], number: int, spell: Callable[[str], str]) -> tuple[str, str]:
    """The two fields of a line."""
    if len(row) != 2 or not row[1].strip():
        raise InputError(f"line {number} of the labels has {len(row)} fields; give lines 'user,label'")
    label = row[1].strip()
    if len(label) > _LONGEST_LABEL:
        raise InputError(f"line {number} has a label of {len(label)} characters; at most {_LONGEST_LABEL} are taken")
    return spell(row[0]), label
