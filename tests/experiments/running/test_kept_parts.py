from __future__ import annotations

import pytest

from privact.errors import InputError
from privact.experiments.running.kept_parts import KeptParts


def failing():
    raise KeyboardInterrupt


def test_a_finished_part_is_not_computed_again_and_an_unfinished_one_is(tmp_path):
    cells = KeptParts(tmp_path / "cells")
    with pytest.raises(KeyboardInterrupt):
        cells.get_or_run({"fold": 0}, failing)
    assert list((tmp_path / "cells").iterdir()) == []
    assert cells.get_or_run({"fold": 0}, lambda: {"ndcg": 0.5}) == {"ndcg": 0.5}
    assert KeptParts(tmp_path / "cells").get_or_run({"fold": 0}, failing) == {"ndcg": 0.5}


def test_other_settings_or_another_version_are_another_part(tmp_path):
    KeptParts(tmp_path).get_or_run({"fold": 0}, lambda: {"ndcg": 0.5})
    assert KeptParts(tmp_path).get_or_run({"fold": 1}, lambda: {"ndcg": 0.7}) == {"ndcg": 0.7}
    assert KeptParts(tmp_path, version=2).get_or_run({"fold": 0}, lambda: {"ndcg": 0.9}) == {"ndcg": 0.9}
    assert KeptParts(tmp_path).get_or_run({"fold": 0}, failing) == {"ndcg": 0.5}


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"settings": {}, "found": {}}'])
def test_a_damaged_file_is_computed_again(tmp_path, damage):
    KeptParts(tmp_path).get_or_run({"fold": 0}, lambda: {"ndcg": 0.5})
    [path] = tmp_path.iterdir()
    path.write_text(damage)
    assert KeptParts(tmp_path).get_or_run({"fold": 0}, lambda: {"ndcg": 0.6}) == {"ndcg": 0.6}


def test_without_a_folder_nothing_is_kept_and_a_file_in_its_place_is_one_line(tmp_path):
    assert KeptParts(None).get_or_run({}, lambda: {"a": 1}) == {"a": 1}
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot make folder"):
        KeptParts(tmp_path / "file" / "cells")
