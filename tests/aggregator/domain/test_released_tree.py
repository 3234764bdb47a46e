"""Questions to a released tree: the same answers as the tree itself gives, users found without a table, joiners marked."""

from __future__ import annotations

import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, update

from privact.aggregator.domain.open_trees import OpenTrees
from privact.aggregator.domain.refusals import NotFound, WrongState
from privact.aggregator.domain.release import public_parameters, record_release, sha256_of
from privact.aggregator.domain.released_tree import EXAMPLES, ReleasedTree
from privact.aggregator.http.app import create_app
from privact.aggregator.storage import schema
from privact.aggregator.storage.stored_reports import StoredRound
from privact.errors import InputError, UnknownUserError
from privact.protocol.round import Round
from privact.protocol.users import user_digest
from privact.query.lookups import MOST
from privact.tree.hct import HierarchicalClusterTree

ROUND = Round(id="spring", epsilon=1.0, n_bins=2, n_users=40, seed=bytes(16))


def released(left, right, n_late=0):
    """A tree of made-up users whose last leaves joined late."""
    n_users = len(left) + 1
    n_early = n_users - n_late
    ids = sorted((f"user{i}@a.example" for i in range(n_early)), key=user_digest)
    ids += sorted((f"late{i}@a.example" for i in range(n_late)), key=user_digest)
    parameters = public_parameters(StoredRound(ROUND, "counts", 0, n_early, n_late))
    return ReleasedTree(HierarchicalClusterTree.from_children(left, right, ids, parameters), bytes(32), 5, "Per edge: ...")


@st.composite
def trees(draw):
    n_users = draw(st.integers(2, 30))
    order = draw(st.permutations(range(n_users, 2 * n_users - 1)))
    left, right, roots = [0] * (n_users - 1), [0] * (n_users - 1), list(range(n_users))
    for node in order:
        left[node - n_users] = roots.pop(draw(st.integers(0, len(roots) - 1)))
        right[node - n_users] = roots.pop(draw(st.integers(0, len(roots) - 1)))
        roots.append(node)
    return released(left, right, draw(st.integers(0, n_users - 1)))


@settings(deadline=None, max_examples=60)
@given(trees(), st.data())
def test_answers_are_those_of_the_tree_with_joiners_marked(found, data):
    tree = found.tree
    user = tree.users[data.draw(st.integers(0, tree.n_users - 1))]
    m, size = data.draw(st.integers(1, 40)), data.draw(st.integers(1, tree.n_users))
    near = found.nearest(user, m)
    assert (near["user"], near["joined_late"]) == (user, user.startswith("late"))
    assert [(each["user"], each["community_size"]) for each in near["nearest"]] == list(tree.nearest(user, m))
    assert all(each["joined_late"] == each["user"].startswith("late") for each in near["nearest"])
    community = found.community(user, size, MOST)
    assert [each["user"] for each in community["users"]] == tree.community(user, size).users
    assert (community["size"], community["alike"]) == (tree.community(user, size).size, tree.alike(user))
    assert near["tied"] == tree.nearest(user, m).tied
    assert found.path(user, MOST)["sizes"] == tree.communities(user).sizes.tolist()


@settings(deadline=None, max_examples=60)
@given(trees(), st.data())
def test_a_cut_has_the_sizes_of_the_trees_own_cut(found, data):
    tree = found.tree
    k = data.draw(st.integers(1, tree.n_users))
    cut, labels = found.cut(k), tree.cut(k)
    assert [cluster["size"] for cluster in cut["clusters"]] == np.bincount(labels).tolist()
    for number, cluster in enumerate(cut["clusters"]):
        assert cluster["cluster"] == number
        assert len(cluster["users"]) == min(EXAMPLES, cluster["size"])
        assert {labels[tree.leaf_of(each["user"])] for each in cluster["users"]} == {number}


def test_users_are_found_in_any_spelling_and_strangers_are_not():
    found = released([0, 2, 4], [1, 3, 5], n_late=1)
    assert found.nearest(" @User1@A.example", 1)["user"] == "user1@a.example"
    assert found.nearest("late0@a.example", 1)["joined_late"] is True
    with pytest.raises(UnknownUserError, match="no user 'eve' among the 4 users"):
        found.nearest("eve", 1)
    with pytest.raises(InputError, match="empty after normalising"):
        found.nearest("@", 1)


def test_long_answers_are_cut_and_say_how_long_they_would_be():
    n_users = 2_500
    chain = np.arange(n_users - 1, 2 * n_users - 2)
    chain[0] = 0
    found = released(chain, np.arange(1, n_users))
    deepest = found.tree.users[0]
    path = found.path(deepest, 3)
    assert (path["clusters"], path["sizes"]) == (n_users, [1, 2, 3])
    everybody = found.community(deepest, n_users, 2, offset=n_users - 3)
    assert (everybody["size"], everybody["offset"]) == (n_users, n_users - 3)
    assert [each["user"] for each in everybody["users"]] == found.tree.users[n_users - 3 : n_users - 1]
    with pytest.raises(InputError, match="size 2501 is more than the 2500 users"):
        found.community(deepest, n_users + 1, 2)
    with pytest.raises(InputError, match="k 2501 is more than the 2500 users"):
        found.cut(n_users + 1)


def test_the_summary_tells_size_depth_and_promise():
    summary = released([0, 2, 4], [1, 3, 5], n_late=1).summary
    assert (summary["round"], summary["users"], summary["joined_late"], summary["sha256"]) == ("spring", 4, 1, "00" * 32)
    assert summary["depth"] == {"mean": 2.0, "largest": 2}
    assert summary["privacy"] == "Per edge: ..."


@pytest.fixture
def open_trees(stored_reports):
    """A released round of four users kept open, and where it is stored."""
    stored = stored_reports(order=range(4))
    users = sorted((f"user{user}@{'many' if user % 2 else 'few'}.example" for user in range(4)), key=user_digest)
    round = Round.from_bytes(stored.row.parameters)
    parameters = public_parameters(StoredRound(round, "counts", 7, 4, 0))
    stored.settings.releases_folder.mkdir()
    HierarchicalClusterTree.from_children([0, 2, 4], [1, 3, 5], users, parameters).save(stored.release)
    with stored.store.write() as connection:
        connection.execute(update(schema.rounds).values(state="learning"))
    record_release(stored.store, "spring", sha256_of(stored.release), 4)
    return OpenTrees(stored.store, stored.settings, most=1), stored, users


def with_joiner(stored):
    """Write the tree with one joiner beside everybody."""
    stored.joined.parent.mkdir(exist_ok=True)
    HierarchicalClusterTree.load(stored.release).with_leaves([6], ["zoe@late.example"]).save(stored.joined)


def test_a_file_is_read_once_and_again_when_somebody_has_joined(open_trees):
    trees, stored, users = open_trees
    before = trees.find("spring")
    assert trees.find("spring") is before
    with pytest.raises(UnknownUserError):
        before.nearest("zoe@late.example", 1)
    with_joiner(stored)
    after = trees.find("spring")
    assert after.summary["joined_late"] == 1
    assert [each["user"] for each in after.nearest("zoe@late.example", 9)["nearest"]] == [
        users[i] for i in after.tree.ring_order.order[:4]
    ]
    assert after.nearest(users[0], 9)["nearest"][-1] == {"user": "zoe@late.example", "joined_late": True, "community_size": 5}


def test_a_tree_of_another_round_of_the_same_name_is_not_shown(open_trees):
    trees, stored, _ = open_trees
    stored.joined.parent.mkdir()
    other = HierarchicalClusterTree.load(stored.release).with_leaves([6], ["zoe@late.example"])
    other.with_parameters({**other.parameters, "round_digest": "ff" * 32}).save(stored.joined)
    assert trees.find("spring").tree.n_users == 4


def test_trees_that_are_not_there_are_refused(open_trees):
    trees, stored, _ = open_trees
    with pytest.raises(NotFound, match="no round 'winter'"):
        trees.find("winter")
    stored.release.unlink()
    with pytest.raises(WrongState, match="restore its file"):
        trees.find("spring")


def test_only_the_trees_used_last_stay_open(open_trees):
    trees, stored, _ = open_trees
    first = trees.find("spring")
    with stored.store.write() as connection:
        row = dict(connection.execute(schema.rounds.select()).mappings().one()) | {"id": "autumn"}
        connection.execute(insert(schema.rounds).values(row))
        release = dict(connection.execute(schema.releases.select()).mappings().one()) | {"round_id": "autumn"}
        connection.execute(insert(schema.releases).values(release))
    stored.release.with_name("autumn.hct").write_bytes(stored.release.read_bytes())
    trees.find("autumn")
    assert trees.find("spring") is not first


@pytest.fixture
def ask(open_trees):
    """Ask a running application; stored is what it serves."""
    _, stored, users = open_trees
    with TestClient(create_app(stored.settings)) as client:
        yield lambda path, **headers: client.get(f"/v1/rounds/spring/tree{path}", headers=headers), stored, users


def test_every_question_has_its_route(ask):
    get, _, users = ask
    summary = get("").json()
    assert (summary["users"], summary["formats"]) == (4, ["hct", "newick", "json", "linkage"])
    assert get(f"/nearest?user={users[0]}&m=1").json() == {
        "user": users[0], "joined_late": False, "nearest": [{"user": users[1], "joined_late": False, "community_size": 2}],
        "tied": 1,
    }  # fmt: skip
    community = get(f"/community?user={users[0]}&size=2&limit=1").json()
    assert (community["size"], [each["user"] for each in community["users"]]) == (2, [users[0]])
    assert get(f"/path?user={users[0]}").json()["sizes"] == [1, 2, 4]
    assert [cluster["size"] for cluster in get("/cut?k=3").json()["clusters"]] == [1, 1, 2]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nearest?user=eve", 404),
        ("/nearest?user=@", 400),
        ("/nearest", 400),
        ("/nearest?user=eve&m=0", 400),
        ("/nearest?user=eve&m=1001", 400),
        ("/community?user=user0@few.example&size=5", 400),
        ("/community?user=user0@few.example&size=2&limit=0", 400),
        ("/path?user=user0@few.example&limit=x", 400),
        ("/cut?k=5", 400),
        ("/cut?k=1000000", 400),
        ("/download?format=pickle", 400),
        ("/../../winter/tree/cut", 404),
    ],
)
def test_bad_questions_are_refused_in_one_line(ask, path, status):
    get, _, _ = ask
    answer = get(path)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert "\n" not in answer.json()["error"]


def test_downloads_are_the_release_in_each_format(ask, tmp_path):
    get, stored, _ = ask
    tree = HierarchicalClusterTree.load(stored.release)
    with_joiner(stored)  # downloads stay what was released
    whole = get("/download")
    assert whole.content == stored.release.read_bytes()
    assert whole.headers["etag"] == f'"{sha256_of(stored.release).hex()}"'
    assert HierarchicalClusterTree.from_newick(get("/download?format=newick").text, users=list(tree.users)) == tree
    assert HierarchicalClusterTree.from_json(get("/download?format=json").text) == tree
    (tmp_path / "z.npy").write_bytes(get("/download?format=linkage").content)
    assert np.array_equal(np.load(tmp_path / "z.npy"), tree.to_linkage())
    assert get("/download?format=json").headers["etag"] == f'{whole.headers["etag"][:-1]}-json"'
    kept = {path.suffix for path in (stored.settings.data_folder / "downloads").iterdir()}
    assert kept == {".nwk", ".json", ".npy"}


def test_a_file_that_is_known_is_not_sent_again(ask):
    get, stored, _ = ask
    tag = get("/download").headers["etag"]
    assert get("/download", **{"If-None-Match": f'"other", W/{tag}'}).status_code == 304
    assert get("/download", **{"If-None-Match": tag}).content == b""
    assert get("/download", **{"If-None-Match": '"other"'}).status_code == 200
    assert get("/download", **{"Range": "bytes=0-3"}).content == stored.release.read_bytes()[:4]
    stored.release.unlink()
    assert get("/download").status_code == 409


@pytest.mark.parametrize(("state", "status"), [("draft", 404), ("open", 409), ("learning", 409), ("failed", 409)])
def test_a_round_without_a_release_has_no_tree(ask, state, status):
    get, stored, _ = ask
    with stored.store.write() as connection:
        connection.execute(schema.releases.delete())
        connection.execute(update(schema.rounds).values(state=state))
    for path in ("", "/cut", "/nearest?user=eve", "/download", "/download?format=json"):
        answer = get(path)
        assert answer.status_code == status
        assert "spring" in answer.json()["error"]


def test_trees_that_are_not_public_need_a_token(open_trees):
    _, stored, _ = open_trees
    closed = stored.settings.model_copy(update={"public_trees": False})
    with TestClient(create_app(closed)) as client:
        for path in ("", "/cut", "/download"):
            assert client.get(f"/v1/rounds/spring/tree{path}").status_code == 401


def test_the_description_has_an_example_of_every_answer(ask):
    _, stored, _ = ask
    document = create_app(stored.settings).openapi()
    paths = document["paths"].items()
    routes = {path: methods["get"] for path, methods in paths if "/tree" in path and "/explore" not in path}
    assert len(routes) == 6
    for path, operation in routes.items():
        assert operation["summary"]
        assert {"400", "404", "409"} <= set(operation["responses"])
        if not path.endswith("/download"):
            name = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            assert document["components"]["schemas"][name]["example"]
