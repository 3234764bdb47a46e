"""Archives in the documented layouts: what comes out, and archives that are not what they should be."""

from __future__ import annotations

import gzip
import zipfile

import pytest

from privact.errors import FileFormatError, InputError
from privact.network import archives
from privact.network.archives import read_douban, read_hetrec_delicious, read_hetrec_lastfm
from privact.network.dataset_content import Content, read_content, write_content

FRIENDS = "userID\tfriendID\r\n2\t9\r\n9\t2\r\n9\t4\r\n4\t9\r\n"
ARTISTS = "userID\tartistID\tweight\r\n2\t51\t13883\r\n9\t51\t7\r\n"


@pytest.fixture
def packed(tmp_path):
    """Makes a zip archive of the given files."""

    def packed(files):
        path = tmp_path / "archive.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return path

    return packed


def test_lastfm_names_each_friendship_once_where_it_first_appears(packed):
    found = read_hetrec_lastfm(packed({"user_friends.dat": FRIENDS, "user_artists.dat": ARTISTS, "readme.txt": "terms"}))
    assert found == Content([(2, 9), (9, 4)], [(2, 51, 13883), (9, 51, 7)])


def test_delicious_counts_tags_of_the_largest_component_and_numbers_pages(packed):
    contacts = "userID\tcontactID\tdate_day\n8\t7\t4\n7\t8\t4\n7\t6\t4\n1\t2\t4\n"  # 8-7-6 and 1-2
    tagged = "userID\tbookmarkID\ttagID\tday\n1\t5\t1\t8\n8\t90\t1\t8\n8\t90\t2\t8\n8\t30\t1\t8\n6\t90\t3\t8\n"
    found = read_hetrec_delicious(packed({"user_contacts.dat": contacts, "user_taggedbookmarks.dat": tagged}))
    assert found == Content([(8, 7), (7, 6), (1, 2)], [(8, 0, 2), (8, 1, 1), (6, 0, 1)])


def test_douban_may_lie_in_a_folder_and_write_whole_numbers_with_a_point(packed):
    found = read_douban(packed({"douban/trusts.txt": "0 3 1\n3 0 1\n5 5 1\n", "douban/ratings.txt": "0 0 4\r\n3 1 5.0\r\n"}))
    assert found == Content([(0, 3)], [(0, 0, 4), (3, 1, 5)])


@pytest.mark.parametrize("name", ["../user_friends.dat", "/user_friends.dat", "a/../../user_friends.dat", "..\\user_friends.dat"])
def test_names_that_lead_outside_are_refused(packed, tmp_path, name):
    archive = packed({name: FRIENDS, "user_artists.dat": ARTISTS})
    with pytest.raises(FileFormatError, match="outside of itself"):
        read_hetrec_lastfm(archive)
    assert list(tmp_path.iterdir()) == [archive]
    assert not (tmp_path.parent / "user_friends.dat").exists()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"user_artists.dat": ARTISTS}, "has no files user_friends.dat"),
        ({"a/user_friends.dat": FRIENDS, "b/user_friends.dat": FRIENDS, "user_artists.dat": ARTISTS}, "has 2 files"),
        ({"user_friends.dat": FRIENDS + "9\n", "user_artists.dat": ARTISTS}, "line 6 is not 2 whole numbers: '9'"),
        ({"user_friends.dat": FRIENDS, "user_artists.dat": ARTISTS + "a\tb\tc\n"}, "line 4 is not 3 whole numbers"),
    ],
)
def test_other_archives_are_one_line(packed, files, message):
    with pytest.raises(FileFormatError, match=message) as caught:
        read_hetrec_lastfm(packed(files))
    assert "\n" not in str(caught.value)


def test_a_file_that_would_unpack_to_too_much_is_not_unpacked(packed, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST", 10)
    with pytest.raises(FileFormatError, match="more than 10"):
        read_hetrec_lastfm(packed({"user_friends.dat": FRIENDS, "user_artists.dat": ARTISTS}))


def test_what_is_no_archive_or_damaged_is_one_line(packed, tmp_path):
    (tmp_path / "page.zip").write_text("<html>moved</html>")
    with pytest.raises(FileFormatError, match="not a zip archive"):
        read_hetrec_lastfm(tmp_path / "page.zip")
    with pytest.raises(InputError, match="cannot read"):
        read_hetrec_lastfm(tmp_path / "nothing.zip")
    archive = packed({"user_friends.dat": FRIENDS, "user_artists.dat": ARTISTS})
    data = bytearray(archive.read_bytes())
    data[data.index(b"userID")] ^= 1
    archive.write_bytes(data)
    with pytest.raises(FileFormatError, match="damaged"):
        read_hetrec_lastfm(archive)


def test_digests_do_not_depend_on_order_direction_or_item_numbers_but_on_everything_else():
    first = Content([(1, 2), (2, 3)], [(1, 10, 5), (2, 10, 4), (1, 11, 1)])
    same = Content([(3, 2), (1, 2)], [(1, 7, 1), (2, 3, 4), (1, 3, 5)])
    assert (same.contacts_sha256, same.ratings_sha256) == (first.contacts_sha256, first.ratings_sha256)
    others = [
        Content([(1, 2), (1, 3)], first.ratings),
        Content(first.contacts, [(1, 10, 5), (2, 10, 4), (2, 11, 1)]),
        Content(first.contacts, [(1, 10, 5), (2, 10, 3), (1, 11, 1)]),
        Content(first.contacts, [(1, 10, 5), (2, 11, 4), (1, 11, 1)]),
    ]
    digests = {(each.contacts_sha256, each.ratings_sha256) for each in [first, *others]}
    assert len(digests) == 5


def test_content_is_written_as_experiments_read_it_and_comes_back(tmp_path):
    content = Content([(1, 2), (2, 3)], [(1, 10, 5)])
    paths = write_content(content, tmp_path / "data" / "lastfm")
    assert [path.name for path in paths] == ["social.tsv.gz", "ratings.tsv.gz"]
    assert gzip.decompress(paths[0].read_bytes()) == b"user\tfriend\n1\t2\n2\t3\n"
    assert gzip.decompress(paths[1].read_bytes()) == b"user\titem\trating\n1\t10\t5\n"
    assert read_content(tmp_path / "data" / "lastfm") == content
    before = paths[0].read_bytes()
    with pytest.raises(InputError, match="not empty"):
        write_content(Content([], []), tmp_path / "data" / "lastfm")
    assert paths[0].read_bytes() == before
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["lastfm"]


def test_writing_fails_whole(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write_content(Content([(1, 2)], []), tmp_path / "file" / "lastfm")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_files_of_others_are_no_content(tmp_path):
    assert read_content(tmp_path) is None
    (tmp_path / "social.tsv.gz").write_bytes(b"not gzip")
    assert read_content(tmp_path) is None
