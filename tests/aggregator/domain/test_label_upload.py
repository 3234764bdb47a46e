from __future__ import annotations

import json

import pytest

from privact.aggregator.domain.label_upload import build_table, read_labels
from privact.errors import InputError

KEY = bytes(range(16))


def test_lines_become_a_table_with_labels_in_alphabetical_order():
    source = read_labels(b"ada,north\nbob,south\n\ncat , north \n")
    assert json.loads(source) == {"ada": "north", "bob": "south", "cat": "north"}
    table = build_table(source, KEY)
    assert table.n_labels == 2
    assert table.labels_of(["ada", "BOB", "cat", "dan"]).tolist() == [0, 1, 0, -1]


@pytest.mark.parametrize(
    "text", ["user,label\nada,x\n", "User\tserver\nada\tx\n", "ada,x", "\ufeffada,x\r\n", '"ada","x"\n', "ada,x\n@ADA,x\n"]
)
def test_headers_tabs_quotes_and_repeats_are_understood(text):
    assert json.loads(read_labels(text.encode())) == {"ada": "x"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "name no user"),
        (b"user,label\n", "name no user"),
        (b"ada\n", "line 1 of the labels has 1 fields"),
        (b"ada,x,y\n", "line 1 of the labels has 3 fields"),
        (b"bob,x\nada,\n", "line 2 of the labels"),
        (b"ada,x\nADA,y\n", "line 2 gives user 'ada' a second label"),
        (b"\xff\xfe", "not UTF-8 text at byte 0"),
        (b"ada," + b"x" * 201, "a label of 201 characters"),
        (b"@,x\n", "empty after normalising"),
        (b"a\x00b,x\n", "."),
        (b'"' + b"a" * 140_000 + b"\n", "."),
    ],
)
def test_anything_else_is_refused_in_one_line(body, message):
    with pytest.raises(InputError, match=message) as refused:
        read_labels(body)
    assert "\n" not in str(refused.value)


def test_more_labels_than_bins_can_be_are_refused():
    lines = "".join(f"u{number},{number}\n" for number in range(2**16 + 1))
    with pytest.raises(InputError, match="65537 different labels are more than 65536"):
        read_labels(lines.encode())
