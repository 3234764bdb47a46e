"""Exact degree vectors: contacts + round -> how many contacts fall in each bin.

The result is as private as the contact list itself: it leaves a device only after privact.device.noise.
"""

from __future__ import annotations

from collections.abc import Iterable

from privact.errors import InputError
from privact.protocol.bins import bin_of
from privact.protocol.labels import NO_LABEL, LabelTable
from privact.protocol.round import Round
from privact.protocol.users import normalise_user_id

__all__ = ["degree_vector"]


def degree_vector(
    contacts: Iterable[str], round: Round, labels: LabelTable | None = None, *, owner: str | None = None
) -> list[int]:
    """The exact number of a user's contacts in each bin: one contact more or less changes one entry by one.

    contacts: ids of the user's contacts, in any spelling; one who is listed twice counts once.
    round: the round's public parameters.
    labels: the round's label table; only for label bins. Contacts in no group are counted nowhere.
    owner: the user's own id; nobody is their own contact.

    Returns n_bins counts.
    """
    if isinstance(contacts, str):
        raise InputError(f"contacts is the single text {contacts!r}; pass a list of user ids")
    distinct = {normalise_user_id(contact) for contact in contacts}
    if owner is not None:
        distinct.discard(normalise_user_id(owner))
    counts = [0] * round.n_bins
    for contact in distinct:
        place = bin_of(contact, round, labels)
        if place != NO_LABEL:
            counts[place] += 1
    return counts
