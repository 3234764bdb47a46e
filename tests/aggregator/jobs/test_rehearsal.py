"""Rehearsals with made-up devices: what is clear comes out, and random bins alone see no community."""

from __future__ import annotations

from privact.aggregator.jobs.rehearsal import rehearse


def test_with_many_contacts_and_little_noise_labels_and_series_find_communities_and_random_bins_do_not():
    found = rehearse(120, contacts=100, epsilon=16.0)
    assert (found["users"], found["communities"], found["rounds"]) == (120, 4, 5)
    assert found["labels"] > 2 * found["chance"]
    assert found["series"] > 2 * found["chance"]
    assert found["random"] < 1.5 * found["chance"]


def test_where_noise_hides_everything_nothing_is_promised():
    found = rehearse(120, contacts=2, epsilon=0.5)
    assert max(found["labels"], found["random"], found["series"]) < 1.5 * found["chance"]
