"""Slots: drawn evenly, within the window and the round, and never waited for longer than that."""

from __future__ import annotations

import pytest

from privact.device.slots import draw_slot, wait_for

ASKED = 1_800_000_000.0


def test_slots_fill_the_window_after_its_lead_evenly():
    slots = [draw_slot(ASKED, 100.0, ASKED + 1000) / 1000 - ASKED for _ in range(4000)]
    assert 20 <= min(slots) < 21
    assert 99 < max(slots) <= 100
    quarters = [sum(20 + 20 * i <= slot < 40 + 20 * i for slot in slots) for i in range(4)]
    assert min(quarters) > 800  # 1,000 expected: 7 standard deviations


def test_the_window_shrinks_to_what_is_left():
    slots = [draw_slot(ASKED, 100.0, ASKED + 50) / 1000 - ASKED for _ in range(2000)]
    assert 10 <= min(slots) < 11
    assert 49 < max(slots) <= 50


@pytest.mark.parametrize("closes", [ASKED + 1000, ASKED + 1, ASKED - 5])
def test_without_a_window_a_report_leaves_at_once(closes):
    assert draw_slot(ASKED, 0.0, closes) == 1000 * ASKED


@pytest.mark.parametrize(
    ("clock", "slept"), [(ASKED, [30.0]), (ASKED + 29, [1.0]), (ASKED + 31, []), (ASKED - 10 * 31_536_000, [100.0])]
)
def test_a_slot_is_waited_for_but_never_longer_than_the_window(clock, slept):
    waited = []
    wait_for(int(1000 * (ASKED + 30)), 100.0, lambda: clock, waited.append)
    assert waited == slept
