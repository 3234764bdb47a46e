"""The parameters of opened rounds, which never change and are requested most: kept in memory."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Final

from sqlalchemy import select

from privact.aggregator.domain.intake import layout_of
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import rounds
from privact.protocol.report import report_length
from privact.protocol.round import MAX_BINS
from privact.protocol.round_ids import is_round_id

__all__ = ["Parameters"]

_MOST: Final = 256
_LONGEST_REPORT: Final = report_length(MAX_BINS)


class Parameters:
    """Canonical bytes of opened rounds.

    store: where rounds are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, bytes] = OrderedDict()

    def find(self, round_id: str) -> bytes | None:
        """The parameters of a round, or None if there is no such round or it is a draft."""
        known = self._known.get(round_id)
        if known is not None or not is_round_id(round_id):
            return known
        with self._store.read() as connection:
            found = connection.execute(select(rounds.c.parameters).where(rounds.c.id == round_id)).scalar_one_or_none()
        if found is not None:
            self._known[round_id] = found
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        return found

    async def longest_report(self, round_id: str) -> int:
        """How many bytes a report of this round has; of a round that is not there, as many as any report can have."""
        parameters = self._known.get(round_id) or await asyncio.to_thread(self.find, round_id)
        return _LONGEST_REPORT if parameters is None else layout_of(parameters).length
