from __future__ import annotations

import gzip
import sys
from pathlib import Path

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import mmwrite
from scipy.sparse import coo_array

from privact.errors import GraphError, MissingExtraError
from privact.network import _edge_list
from privact.network.graph import ContactGraph
from privact.network.graph_files import read_graph

TRIANGLE = ContactGraph.from_edges([("b", "a"), ("a", "c"), ("c", "b")])


@pytest.fixture
def put(tmp_path: Path):
    def write(content: str | bytes, name: str = "contacts.tsv") -> Path:
        file = tmp_path / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    return write


@pytest.mark.parametrize(
    "text",
    [
        "b\ta\na\tc\nc\tb\n",
        "b\ta\na\tc\nc\tb",
        "b,a\na,c\nc,b\n",
        "b;a\na;c\nc;b\n",
        "b a\na c\nc b\n",
        "b   a\na \t c\n  c b  \n",
        "b, a\na , c\nc,b\n",
        "b\ta\r\na\tc\r\nc\tb\r\n",
        "b\ta\ra\tc\rc\tb\r",
        "\ufeffb\ta\na\tc\nc\tb\n",
        "# who knows whom\n% more\nb\ta\n# here too\na\tc\n\n\nc\tb\n#end",
        "b\ta\n  \na\tc\n\t\t\nc\tb\n   ",
        "b\ta\t1.5\t2020-01-01\na\tc\tx\ty\nc\tb\t\t\n",
        '"b","a"\n"a",c\nc,"b"\n',
        '"b"\t"a"\n"a"\tc\nc\t"b"\n',
        "user\tfriend\nb\ta\na\tc\nc\tb\n",
        "# made today\n\nSource,Target,weight\nb,a,1\na,c,1\nc,b,1\n",
        "user_id friend_id\nb a\na c\nc b\n",
    ],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_every_spelling_of_the_triangle_is_the_triangle(put, text: str, packed: bool) -> None:
    file = put(gzip.compress(text.encode()), "contacts.tsv.gz") if packed else put(text)
    graph = read_graph(file)
    assert graph == TRIANGLE
    assert (graph.dropped_duplicates, graph.dropped_self_loops) == (0, 0)


@pytest.mark.parametrize("name", ["contacts", "contacts.edges", "contacts.CSV", "out.moreno"])
def test_the_name_does_not_decide_the_separator(put, name: str) -> None:
    assert read_graph(put("b;a\na;c\nc;b\n", name)) == TRIANGLE


@pytest.mark.parametrize("text", ["1 2", "a\tb", "a\tb\n", "user,friend\n1,2", "\n\n1;2\n#"])
def test_one_contact_is_enough(put, text: str) -> None:
    assert read_graph(put(text)).n_edges == 1


def test_users_are_numbered_in_order_of_first_appearance(put) -> None:
    assert read_graph(put("9\t10\n10\t3\n1\t9\n")).users == ("9", "10", "3", "1")


def test_spelling_of_ids_is_kept(put) -> None:
    graph = read_graph(put("007\t7\n7\t+7\n-7\t0x7\nNA\tnull\n1.0\t1\n"))
    assert graph.users == ("007", "7", "+7", "-7", "0x7", "NA", "null", "1.0", "1")
    for text, users in {"7\t1\n07\t1\n": ("7", "1", "07"), "0\t10\n100\t0\n": ("0", "10", "100")}.items():
        assert read_graph(put(text)).users == users


def test_leading_zeros_are_seen_across_blocks(put, monkeypatch: pytest.MonkeyPatch) -> None:
    for length in range(4, 20):  # wherever a block ends, 5 and 05 stay two users
        monkeypatch.setattr(_edge_list, "_BLOCK", length)
        assert not _edge_list._are_plain_integers(b"10\t20\n30\t400\n5\t05\n10\t7")
        assert _edge_list._are_plain_integers(b"10\t20\n30\t400\n5\t0\n10\t7 1.05")


def test_any_text_is_an_id(put) -> None:
    text = 'Zoë Müller,ада@сервер.example\n"O\'Neil, Ann",文\n"say ""hi""",Zoë Müller\nO"x,a#b\n'
    assert read_graph(put(text, "people.csv")).users == (
        "Zoë Müller", "ада@сервер.example", "O'Neil, Ann", "文", 'say "hi"', 'O"x', "a#b",
    )  # fmt: skip
    assert read_graph(put("Ann Lee\tBo\nBo\tCy Dee\n")).users == ("Ann Lee", "Bo", "Cy Dee")


def test_numbers_between_blanks_and_tabs_are_four_columns(put) -> None:
    assert read_graph(put("% sym weighted\n1 2\t1 1082008561\n2 3\t1 1082008562\n", "out.x")).users == ("1", "2", "3")


def test_blanks_inside_ids_are_kept_between_tabs(put) -> None:
    assert read_graph(put("12 a\t34 b\n56 c\t12 a\n")).users == ("12 a", "34 b", "56 c")
    assert read_graph(put('"12 34"\t"56 78"\n')).users == ("12 34", "56 78")


def test_a_header_is_found_by_its_words_or_by_the_numbers_below(put) -> None:
    assert read_graph(put("FromNodeId\tToNodeId\n1\t2\n")).users == ("1", "2")
    assert read_graph(put("User ID,Friend ID\nann,bo\n")).users == ("ann", "bo")
    assert read_graph(put("ann\tbo\nbo\tcy\n")).users == ("ann", "bo", "cy")
    assert read_graph(put("1\t2\n3\t4\n")).users == ("1", "2", "3", "4")
    assert read_graph(put("user\tuser\nuser\tann\n")).users == ("user", "ann")
    assert read_graph(put("ann\t2\n3\t4\n")).users == ("ann", "2", "3", "4")


def test_a_header_can_be_told(put) -> None:
    assert read_graph(put("left\tright\nann\tbo\n"), header=True).users == ("ann", "bo")
    assert read_graph(put("user\tfriend\nann\tbo\n"), header=False).users == ("user", "friend", "ann", "bo")


def test_direction_duplicates_and_self_loops_are_dropped_and_counted(put) -> None:
    graph = read_graph(put("a\tb\nb\ta\na\ta\na\tb\nb\tc\n"))
    assert (graph.n_edges, graph.dropped_duplicates, graph.dropped_self_loops) == (2, 2, 1)


def test_only_the_largest_component(put) -> None:
    assert read_graph(put("x\ty\na\tb\nb\tc\n"), largest_component=True, header=False).users == ("a", "b", "c")


def test_ids_stay_apart_when_a_file_turns_from_digits_to_words(put) -> None:
    text = "".join(f"{user}\t{user + 1}\n" for user in range(5000)) + "5000\tann\n"
    graph = read_graph(put(text))
    assert graph.users == (*map(str, range(5001)), "ann")
    assert graph.n_edges == 5001


@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=4)] * 2),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from(["\t", ",", ";"]),
)
def test_quoted_ids_come_back(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], separator: str) -> None:
    quoted = [[f'"{user.replace(chr(34), chr(34) * 2)}"' for user in pair] for pair in pairs]
    file = tmp_path_factory.getbasetemp() / "quoted.csv"
    file.write_text("".join(separator.join(pair) + "\n" for pair in quoted), encoding="utf-8", newline="")
    expected = ContactGraph.from_edges(pairs)
    if expected.n_users < 2:
        with pytest.raises(GraphError, match="only user"):
            read_graph(file, header=False)
    else:
        assert read_graph(file, header=False) == expected


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=60), st.sampled_from([16, 64, 1 << 20]))
def test_integer_ids_are_read_as_from_edges_reads_them(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int, int]], block: int
) -> None:
    file = tmp_path_factory.getbasetemp() / "integers.tsv"
    file.write_text("".join(f"{one}\t{other}\n" for one, other in [*pairs, (30, 31)]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_edge_list, "_BLOCK", block)
        assert read_graph(file) == ContactGraph.from_edges([(str(one), str(other)) for one, other in [*pairs, (30, 31)]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty file"),
        ("# nothing\n% here\n\n", "comments and blanks"),
        ("\ufeff", "comments and blanks"),
        ("user\tfriend\n", "no contacts after the header"),
        ("a\tb\n# c\n\nb\tc\td\n", "line 4: 3 columns where the first line has 2"),
        ("a\tb\tc\nd\te\tf\ng\th\n", "line 3: 2 columns where the first line has 3"),
        ("user\tfriend\n1\t2\t3\n4\t5\t6\n", "line 2: 3 columns where the first line has 2"),
        ("1 2\n3\n", "line 2: one column"),
        ("a\nb\n", "line 1: one column"),
        ("a\tb\r\nc\td\te\r\n", "line 2: 3 columns"),
        ("a\tb\rc\td\te\r", "line 2: 3 columns"),
        (b"a\tb\nc\t\xff\xfe\n", "line 2: not UTF-8"),
        (b"a\tb\nc\0\td\n", "line 2: a NUL byte"),
        ("a\tb\n1\t\n", "line 2: an empty user id"),
        ("1\t2\n3\t \n", "line 2: an empty user id"),
        ("1\t2\n\t\n3\t4\n\t5\n", "line 4: an empty user id"),
        ('a,b\n"c,d\ne,f\n', "line 2: a quote is opened"),
        ('a,b,c\nd,e,"x\nf,g,y"\n', "line 2: a quote is opened"),
        ('"a b"   "c"\n"d"   "e"\n', "line 1: a quoted id between blanks"),
        ('"a"  "c"\n', "line 1: a quoted id between blanks"),
        ("a\ta\na\ta\n", "'a' is the only user"),
        (b"\x7fELF\x01\x02" + b"\0" * 20, "line 1: a NUL byte"),
        ("a\tb\n".encode("utf-16"), "NUL byte"),
    ],
)
def test_a_broken_edge_list_gives_one_line_with_file_and_line_number(put, content: str | bytes, message: str) -> None:
    file = put(content)
    with pytest.raises(GraphError, match=message) as caught:
        read_graph(file)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


def test_the_line_number_is_found_far_down_a_file(put) -> None:
    lines = [f"{user}\t{user + 1}" for user in range(3000)]
    lines[2345] = "1\t2\t3"
    with pytest.raises(GraphError, match="line 2346: 3 columns where the first line has 2"):
        read_graph(put("\n".join(lines)))


def test_a_line_that_never_ends_is_refused(put) -> None:
    with pytest.raises(GraphError, match="a line is longer than 1048576 bytes") as caught:
        read_graph(put("a\tb\tc\r\nd\te\t" + "x" * 3_000_000 + "\r\n"))
    assert len(str(caught.value)) < 300


def read_or_refuse(file: Path, content: bytes) -> ContactGraph | str:
    file.write_bytes(content)
    try:
        return read_graph(file)
    except GraphError as error:
        return str(error)


@given(st.binary(max_size=200), st.sampled_from(["junk.tsv", "junk.mtx", "junk.gml", "junk.graphml", "junk.tsv.gz"]))
def test_junk_is_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, junk: bytes, name: str) -> None:
    outcome = read_or_refuse(tmp_path_factory.getbasetemp() / name, junk)
    if isinstance(outcome, str):
        assert name in outcome
        assert len(outcome.splitlines()) == 1
    else:
        assert outcome.n_users >= 2


@given(st.text(alphabet='ab1 ,;\t"#\n\r', max_size=60))
def test_scraps_of_syntax_are_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    outcome = read_or_refuse(tmp_path_factory.getbasetemp() / "scraps.txt", text.encode())
    if isinstance(outcome, str):
        assert len(outcome.splitlines()) == 1
    else:
        assert all(user and user == user.strip() and len(user.splitlines()) == 1 for user in outcome.users)


def test_packed_files_that_are_damaged(put) -> None:
    whole = gzip.compress("".join(f"{user}\t{user + 1}\n" for user in range(1000)).encode())
    for content, message in [
        (whole[: len(whole) // 2], "truncated"),
        (b"a\tb\n", "not a sound gzip file"),
        (whole[:50] + b"\x55" * 50 + whole[100:], "not a sound gzip file|truncated"),
        (b"", "empty file"),
    ]:
        with pytest.raises(GraphError, match=message) as caught:
            read_graph(put(content, "contacts.tsv.gz"))
        assert "contacts.tsv.gz" in str(caught.value)
        assert "\n" not in str(caught.value)
    assert read_graph(put(whole, "no_suffix")).n_edges == 1000


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"nobody\.tsv: cannot be read: No such file"):
        read_graph(tmp_path / "nobody.tsv")
    with pytest.raises(GraphError, match="cannot be read: Is a directory"):
        read_graph(tmp_path)


@pytest.mark.parametrize("suffix", ["graphml", "gml"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_markup_keeps_users_without_contacts(put, tmp_path: Path, suffix: str, packed: bool) -> None:
    source = networkx.Graph([("b", "a"), ("a", "c"), ("c", "b")])
    source.add_node("alone")
    file = tmp_path / f"contacts.{suffix}"
    (networkx.write_graphml if suffix == "graphml" else networkx.write_gml)(source, file)
    if packed:
        file = put(gzip.compress(file.read_bytes()), f"contacts.{suffix}.gz")
    assert read_graph(file) == ContactGraph.from_rows(TRIANGLE.edges(), users=["b", "a", "c", "alone"])
    assert read_graph(file, largest_component=True) == TRIANGLE


def test_markup_duplicates_are_counted(put) -> None:
    edges = [("1", "2"), ("1", "2"), ("2", "1"), ("3", "3")]
    gml = "".join(f"  edge [ source {one} target {other} ]\n" for one, other in edges)
    nodes = "".join(f"  node [ id {node} ]\n" for node in (1, 2, 3))
    graphml = "".join(f'<edge source="{one}" target="{other}"/>' for one, other in edges)
    head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">'
    for graph in (
        read_graph(put(f'Creator "x"\ngraph\n[\n  directed 1\n{nodes}{gml}]\n', "g.gml")),
        read_graph(put(f"{head}{graphml}</graph></graphml>", "g.graphml")),
    ):
        assert graph.users == ("1", "2", "3")
        assert (graph.n_edges, graph.dropped_duplicates, graph.dropped_self_loops) == (1, 2, 1)


def test_gml_labels_are_ids_and_may_be_any_text(put) -> None:
    text = 'graph [ node [ id 0 label "Zoë" ] node [ id 1 label "Bo" ] edge [ source 0 target 1 ] ]'
    assert read_graph(put(text, "g.gml")).users == ("Zoë", "Bo")


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("symmetry", ["symmetric", "general"])
def test_matrix_market_rows_are_users(put, tmp_path: Path, symmetry: str, packed: bool) -> None:
    matrix = np.zeros((4, 4), dtype=int)
    matrix[0, 1] = matrix[1, 0] = matrix[1, 2] = matrix[2, 1] = 5
    matrix[2, 2] = 1
    file = tmp_path / "contacts.mtx"
    mmwrite(file, coo_array(matrix), symmetry=symmetry)
    if packed:
        file = put(gzip.compress(file.read_bytes()), "contacts.mtx.gz")
    graph = read_graph(file)
    assert graph.users == ("0", "1", "2", "3")
    assert graph.edges().tolist() == [[0, 1], [1, 2]]
    assert (graph.dropped_duplicates, graph.dropped_self_loops) == (0, 1)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.graphml", "", "not a sound graphml file"),
        ("g.graphml", "<graphml><graph>", "not a sound graphml file"),
        ("g.graphml", b"\0\1\2\xff", "not a sound graphml file"),
        (
            "g.graphml",
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed"/></graphml>',
            "no users",
        ),
        ("g.gml", "", "not a sound gml file"),
        ("g.gml", "graph [\n node [\n id", "not a sound gml file"),
        ("g.gml", b"graph [ \xff ]", "not a sound gml file"),
        ("g.gml", "graph [ ]", "no users"),
        ("g.gml", "graph [ node [ id 1 ] ]", "only user"),
        ("g.mtx", "", "not a sound MatrixMarket file"),
        ("g.mtx", "1 2\n", "not a sound MatrixMarket file"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n", "not a sound MatrixMarket file"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 9\n", "not a sound MatrixMarket file"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n", r"shape \(2, 3\)"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n", "no users"),
    ],
)
def test_broken_markup_and_matrices_give_one_line(put, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(GraphError, match=message) as caught:
        read_graph(put(content, name))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_markup_without_networkx_names_the_extra(put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"networkx.*privact\[graph\]"):
        read_graph(put("graph [ ]", "g.gml"))


def test_a_first_line_that_may_be_a_header_is_asked_about(put) -> None:
    with pytest.raises(GraphError, match="'who' and 'whom' of the first line occur nowhere else"):
        read_graph(put(b"who,whom\nann,bob\nbob,eve\n"))
    assert read_graph(put(b"#who,whom\nann,bob\nbob,eve\n")).users == ("ann", "bob", "eve")
    assert read_graph(put(b"source,target\nwho,whom\nann,bob\nbob,eve\n")).n_users == 5
    assert read_graph(put(b"who,whom\nwhom,bob\nbob,eve\n")).n_users == 4
    assert read_graph(put(b"who,whom\nann,bob\nbob,eve\n"), header=True).n_users == 3


def test_two_colons_separate_as_in_the_files_of_movielens(tmp_path):
    path = tmp_path / "contacts.dat"
    path.write_text("source::target\nann::bob\nbob::cat lee\n")
    assert read_graph(path).users == ("ann", "bob", "cat lee")
