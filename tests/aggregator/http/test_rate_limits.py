from __future__ import annotations

import pytest

from privact.aggregator.http.rate_limits import Buckets, address_key


class Clock:
    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


def test_a_burst_then_the_rate(clock):
    buckets = Buckets(2.0, 3, clock=clock)
    assert [buckets.take("ada") for _ in range(4)] == [0, 0, 0, 0.5]
    clock.seconds += 0.25
    assert buckets.take("ada") == 0.25
    clock.seconds += 0.25
    assert [buckets.take("ada"), buckets.take("ada")] == [0, 0.5]


def test_a_refusal_costs_nothing(clock):
    buckets = Buckets(1.0, 1, clock=clock)
    buckets.take("ada")
    assert [buckets.take("ada") for _ in range(100)] == [1.0] * 100
    clock.seconds += 1
    assert buckets.take("ada") == 0


def test_nobody_saves_more_than_a_burst(clock):
    buckets = Buckets(1.0, 2, clock=clock)
    buckets.take("ada")
    clock.seconds += 1e6
    assert [buckets.take("ada") for _ in range(3)] == [0, 0, 1.0]


def test_keys_do_not_share(clock):
    buckets = Buckets(1.0, 1, clock=clock)
    assert [buckets.take(name) for name in ("ada", "bob", "ada", "bob")] == [0, 0, 1.0, 1.0]


def test_memory_is_bounded_and_the_busiest_are_remembered(clock):
    buckets = Buckets(0.001, 1, most=10, clock=clock)
    buckets.take("attacker")
    for number in range(1000):
        buckets.take(number)
        assert buckets.take("attacker") > 0
    assert len(buckets) == 10


def test_a_rate_of_zero_is_no_limit_and_remembers_nobody(clock):
    buckets = Buckets(0, 1, clock=clock)
    assert {buckets.take("ada") for _ in range(1000)} == {0}
    assert len(buckets) == 0


def test_an_address_is_itself_and_a_network_of_ipv6_is_one():
    assert address_key("192.0.2.1") != address_key("192.0.2.2")
    assert address_key("2001:db8:1:2::1") == address_key("2001:db8:1:2:ffff::9")
    assert address_key("2001:db8:1:2::1") != address_key("2001:db8:1:3::1")
    assert address_key("::ffff:192.0.2.1") != address_key("::ffff:192.0.2.2")
    assert address_key(None) == address_key("")
    assert address_key("testclient") == "testclient"
