from __future__ import annotations

import math

import pytest

from privact.errors import ProtocolError
from privact.protocol.promise import epsilon_per_report, meaning_sentence, privacy_sentence
from privact.protocol.round import Round


def test_the_sentence_names_the_round_and_both_epsilons():
    sentence = privacy_sentence(1.0, "spring")
    assert "in round spring" in sentence
    assert "e^1.0, about 2.72" in sentence
    assert "each with epsilon 0.5" in sentence
    assert sentence == Round(id="spring", epsilon=1, n_bins=3, n_users=9, seed=bytes(16)).privacy_sentence()


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan, True, "1", 10**400])
def test_no_promise_without_an_epsilon(epsilon):
    with pytest.raises(ProtocolError, match="epsilon is"):
        privacy_sentence(epsilon)
    with pytest.raises(ProtocolError, match="epsilon is"):
        epsilon_per_report(epsilon)


def test_a_name_that_is_no_round_id_is_refused():
    with pytest.raises(ProtocolError, match="round id 'two words'"):
        privacy_sentence(1.0, "two words")


@pytest.mark.parametrize(("epsilon", "sure"), [(1e-6, 51), (0.5, 63), (1.0, 74), (2.0, 89), (50.0, 100)])
def test_a_layperson_is_told_how_sure_anybody_can_become(epsilon, sure):
    assert f"at most {sure} percent sure" in meaning_sentence(epsilon)
