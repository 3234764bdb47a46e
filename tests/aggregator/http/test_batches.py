from __future__ import annotations

import asyncio
import threading

import pytest

from privact.aggregator.http.batches import Batches, Overloaded


def run(play):
    return asyncio.run(asyncio.wait_for(play(), 30))


def test_what_gathers_while_one_batch_is_handled_is_the_next_batch():
    sizes, first_in, go_on = [], threading.Event(), threading.Event()

    def handle(items):
        sizes.append(len(items))
        first_in.set()
        go_on.wait(30)
        return [item * 10 for item in items]

    async def play():
        batches = Batches(handle, name="test", most_waiting=1000, most_at_once=64)
        batches.start()
        first = batches.ask(0)
        await asyncio.to_thread(first_in.wait)
        rest = [batches.ask(number) for number in range(1, 101)]
        assert batches.n_waiting == 101
        go_on.set()
        assert await asyncio.gather(first, *rest) == [number * 10 for number in range(101)]
        assert batches.n_waiting == 0
        await batches.stop()

    run(play)
    assert sizes == [1, 64, 36]


def test_one_more_than_may_wait_is_refused_and_those_who_wait_are_served():
    go_on = threading.Event()

    def handle(items):
        go_on.wait(30)
        return items

    async def play():
        batches = Batches(handle, name="test", most_waiting=3)
        batches.start()
        waiting = [batches.ask(number) for number in range(3)]
        with pytest.raises(Overloaded):
            batches.ask(3)
        go_on.set()
        assert await asyncio.gather(*waiting) == [0, 1, 2]
        assert await batches.ask(4) == 4
        await batches.stop()

    run(play)


def test_a_failure_is_everyones_in_the_batch_and_nobody_elses():
    def handle(items):
        if "bad" in items:
            raise ZeroDivisionError
        return items

    async def play():
        batches = Batches(handle, name="test", most_waiting=10)
        batches.start()
        with pytest.raises(ZeroDivisionError):
            await batches.ask("bad")
        assert await batches.ask("good") == "good"
        await batches.stop()

    run(play)


def test_stopping_serves_who_waits_and_takes_nobody_new():
    handled, go_on = [], threading.Event()

    def handle(items):
        go_on.wait(30)
        handled.extend(items)
        return items

    async def play():
        batches = Batches(handle, name="test", most_waiting=1000, most_at_once=7)
        batches.start()
        waiting = [batches.ask(number) for number in range(100)]
        stopping = asyncio.create_task(batches.stop())
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            batches.ask(100)
        go_on.set()
        await stopping
        assert await asyncio.gather(*waiting) == list(range(100))

    run(play)
    assert handled == list(range(100))


def test_who_has_gone_is_handled_all_the_same():
    handled, go_on = [], threading.Event()

    def handle(items):
        go_on.wait(30)
        handled.extend(items)
        return items

    async def play():
        batches = Batches(handle, name="test", most_waiting=10)
        batches.start()
        gone = batches.ask("gone")
        gone.cancel()
        stays = batches.ask("stays")
        go_on.set()
        assert await stays == "stays"
        await batches.stop()

    run(play)
    assert handled == ["gone", "stays"]


def test_nothing_is_taken_before_the_start():
    async def play():
        with pytest.raises(Overloaded):
            Batches(lambda items: items, name="test", most_waiting=10).ask(1)

    run(play)
