"""Files of labels: one parser for everybody, and a writer whose files it reads back."""

from __future__ import annotations

import pytest

from privact.errors import InputError
from privact.protocol.label_files import format_labels, number_labels, parse_labels


def test_ids_keep_their_spelling_unless_one_is_asked_for():
    assert parse_labels(b"Ada , x\nbob,y\n") == {"Ada": "x", "bob": "y"}
    assert parse_labels(b"Ada,x\nADA,x\n", str.casefold) == {"ada": "x"}


@pytest.mark.parametrize("label_of", [{"user": "a", "ada": "b"}, {"a,b": "x,y", 'q"': "z"}, {"ö@x": "Ä"}])
def test_what_is_written_is_read_back(label_of):
    assert parse_labels(format_labels(label_of)) == label_of


@pytest.mark.parametrize("label_of", [{" ada": "x"}, {"a\tb": "x"}, {"Ada": "x", "ada": "x"}])
def test_ids_that_readers_would_confuse_are_not_written(label_of):
    with pytest.raises(InputError):
        format_labels(label_of)


def test_labels_are_numbered_in_alphabetical_order():
    assert number_labels(["b", None, "a", "b"]) == ([1, -1, 0, 1], 2)
