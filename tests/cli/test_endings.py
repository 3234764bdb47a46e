"""How commands end: one line on stderr and no file when the input is wrong, 130 after Ctrl-C, quiet when nobody reads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from privact.simulate.federated_network import make_federated_network

PRIVACT = [sys.executable, "-c", "from privact.cli.main import main; main()"]


@pytest.fixture
def folder(tmp_path, tree, contacts, teams):
    """Where wrong commands run: a tree, contacts, and files that are neither."""
    (tmp_path / "empty").write_text("")
    (tmp_path / "text.txt").write_text("this is no tree\n")
    (tmp_path / "cut.hct").write_bytes(tree.read_bytes()[:-5])
    (tmp_path / "stranger.tsv").write_text("ann\tbob\n")
    (tmp_path / "none.tsv").write_text("nobody\tred\n")
    (tmp_path / "ragged.tsv").write_text("ann\tred\nbob\n")
    return tmp_path


WRONG = {
    "unknown user": ("nearest tree.hct zacharias", "no user 'zacharias'"),
    "unknown user of a community": ("community tree.hct zacharias", "no user 'zacharias'"),
    "missing tree": ("nearest nothing.hct ann", "cannot read nothing.hct: no such file"),
    "empty tree": ("info empty", "empty is empty"),
    "not a tree": ("info text.txt", "not a tree file"),
    "truncated tree": ("info cut.hct", "cut off or damaged"),
    "a folder for a tree": ("info .", "not a regular file"),
    "no nearest": ("nearest tree.hct ann -m 0", "m = 0"),
    "size 0": ("community tree.hct ann --size 0", "size = 0"),
    "size too large": ("community tree.hct ann --size 9", "size = 9"),
    "k too large": ("cut tree.hct -k 9 -o out.tsv", "k = 9"),
    "k 0": ("cut tree.hct -k 0", "k = 0"),
    "max size 0": ("cut tree.hct --max-size 0 -o out.tsv", "max_size = 0"),
    "neither k nor max size": ("cut tree.hct", "either a number of clusters"),
    "both k and max size": ("cut tree.hct -k 2 --max-size 3", "either a number of clusters"),
    "no folder for labels": ("cut tree.hct -k 2 -o missing/out.tsv", "no folder missing"),
    "missing graph": ("learn nothing.tsv -o out.hct", "nothing.tsv: cannot be read"),
    "empty graph": ("learn empty -o out.hct", "no contacts in this empty file"),
    "epsilon 0": ("learn contacts.tsv --epsilon 0 -o out.hct", "epsilon is 0.0"),
    "epsilon below 0": ("learn contacts.tsv --epsilon -1 -o out.hct", "epsilon is -1.0"),
    "epsilon nan": ("learn contacts.tsv --epsilon nan -o out.hct", "epsilon is nan"),
    "epsilon infinite": ("learn contacts.tsv --epsilon inf -o out.hct", "epsilon is inf"),
    "epsilon no number": ("learn contacts.tsv --epsilon much -o out.hct", "--epsilon"),
    "noise and no noise": ("learn contacts.tsv --epsilon 1 --no-noise -o out.hct", "exclude each other"),
    "bins and labels": ("learn contacts.tsv --bins 2 --labels teams.tsv -o out.hct", "exclude each other"),
    "bins 0": ("learn contacts.tsv --bins 0 -o out.hct", "n_bins is 0"),
    "too many bins": ("learn contacts.tsv --bins 9 -o out.hct", "n_bins is 9"),
    "unknown search": ("learn contacts.tsv --search luck -o out.hct", "search 'luck'"),
    "sweeps below 0": ("learn contacts.tsv --sweeps -3 -o out.hct", "sweeps -3"),
    "temperature no number": ("learn contacts.tsv --temperature hot -o out.hct", "--temperature hot"),
    "seed below 0": ("learn contacts.tsv --seed -1 -o out.hct", "--seed -1"),
    "missing labels": ("learn contacts.tsv --labels nothing.tsv -o out.hct", "cannot read nothing.tsv"),
    "labels of nobody": ("learn contacts.tsv --labels none.tsv -o out.hct", "names none of the 8 users"),
    "a line without label": ("learn contacts.tsv --labels ragged.tsv -o out.hct", "ragged.tsv, line 2"),
    "no folder for the tree": ("learn contacts.tsv -o missing/out.hct", "no folder missing"),
    "a folder for an output": ("learn contacts.tsv -o .", "it is a folder"),
    "no output": ("learn contacts.tsv", "-o"),
    "another graph": ("quality tree.hct stranger.tsv", "6 of the 8 users of the tree are not in stranger.tsv"),
    "another graph for cost": ("cost tree.hct stranger.tsv", "6 of the 8 users"),
    "missing graph for cost": ("cost tree.hct nothing.tsv", "nothing.tsv"),
    "seed below 0 for controls": ("quality tree.hct contacts.tsv --seed -1", "--seed -1"),
    "one user": ("bound --users 1", "n is 1"),
    "bound at epsilon 0": ("bound --users 10 --epsilon 0", "epsilon 0.0"),
    "bound with too many bins": ("bound --users 10 --bins 11", "n_bins is 11"),
    "unknown format": ("convert tree.hct --to pdf", "--to"),
    "no folder for a format": ("convert tree.hct --to json -o missing/out.json", "no folder missing"),
    "unknown picture": ("show tree.hct -o out.pdf", "must end in .html, .png or .svg"),
    "no folder for a picture": ("show tree.hct -o missing/out.png", "no folder missing"),
    "unknown user in a picture": ("show tree.hct -o out.png --user zacharias", "no user 'zacharias'"),
    "too few users to show": ("demo --users 10 -o out", "10 users are too few"),
    "demo into a file": ("demo -o empty", "not a folder"),
    "demo seed below 0": ("demo --seed -1 -o out", "--seed -1"),
    "unknown command": ("lern contacts.tsv", "no such command 'lern'"),
    "unknown option": ("info tree.hct --size 3", "no such option"),
    "missing argument": ("nearest tree.hct", "missing argument"),
}


@pytest.mark.parametrize(("command", "message"), WRONG.values(), ids=WRONG)
def test_wrong_input_gets_one_line_and_leaves_no_file(run, folder, monkeypatch, command, message):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    result = run(*command.split())
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("privact: ")
    assert message in result.stderr
    assert sorted(folder.iterdir()) == before


def test_a_mistyped_command_is_met_with_the_right_one(run):
    assert "'learn'" in run("lern", "contacts.tsv").stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_told_before_the_work(run, contacts, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    result = run("learn", contacts, "-o", locked / "tree.hct")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)


def test_an_error_of_ours_is_not_hidden(run, tree, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("a mistake in the program")

    monkeypatch.setattr("privact.tree.ancestry.find_nearest", broken)
    with pytest.raises(ZeroDivisionError):
        run("nearest", tree, "ann")


@pytest.fixture(scope="module")
def large_graph(tmp_path_factory):
    """A graph that takes many seconds to learn."""
    path = tmp_path_factory.mktemp("large") / "contacts.tsv"
    graph = make_federated_network(40_000, n_artists=64, ratings_per_user=0.0).graph
    path.write_text("".join(f"{one}\t{other}\n" for one, other in graph.edges().tolist()))
    return path


@pytest.mark.parametrize("seconds", [0.0, 2.5], ids=["while reading", "while searching"])
def test_control_c_ends_with_130_and_leaves_no_file(large_graph, tmp_path, seconds):
    begun = (
        "from privact.network import graph_files\nreal = graph_files.read_graph\n"
        "def told(*arguments, **more):\n    print('begun', flush=True)\n    return real(*arguments, **more)\n"
        "graph_files.read_graph = told\nfrom privact.cli.main import main\nmain()"
    )
    command = ["learn", str(large_graph), "-o", str(tmp_path / "tree.hct"), "--search", "gentree", "--sweeps", "100000"]
    process = subprocess.Popen(
        [sys.executable, "-c", begun, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which the tests' own parent may have set to ignore
    )
    assert process.stdout.readline() == "begun\n"
    time.sleep(seconds)  # wherever it is then, the ending is the same
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout, stderr) == (130, "", "privact: stopped\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("moment", ["saving", "replacing"])
def test_control_c_while_the_file_is_written_leaves_the_old_one(run, contacts, tmp_path, monkeypatch, moment):
    output = tmp_path / "tree.hct"
    output.write_text("old")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync" if moment == "saving" else "replace", interrupted)
    result = run("learn", contacts, "-o", output)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "privact: stopped\n")
    assert output.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [contacts, output]


@pytest.mark.parametrize("flag", [[], ["-u"]], ids=["buffered", "unbuffered"])
def test_nobody_reading_is_no_reason_to_complain(tmp_path, flag):
    import numpy as np

    from privact.query.quality import draw_random_tree

    path = tmp_path / "tree.hct"
    draw_random_tree(50_000, np.random.default_rng(0)).save(path)
    command = [sys.executable, *flag, *PRIVACT[1:], "convert", str(path), "--to", "newick"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 141


def test_the_installed_command_answers(tree):
    finished = subprocess.run([*PRIVACT, "nearest", str(tree), "ann", "-m", "1"], capture_output=True, text=True)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.splitlines()[1].split() == ["1", "bob", "2"]
    finished = subprocess.run([*PRIVACT, "nearest", str(tree), "zacharias"], capture_output=True, text=True)
    assert (finished.returncode, finished.stdout, len(finished.stderr.splitlines())) == (2, "", 1)
