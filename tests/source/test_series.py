"""Patches from files, quilt series and git ranges; everything that is none is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.record.store import Store
from burnish.source.patches import series
from burnish.source.patches.series import Named
from patchfiles import COMMENT, FASTER, OTHER_COMMENT, git, git_tree, write


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def read(store: Store, *words: str | Path, tree: Path | None = None, reverse: tuple[str, ...] = ()) -> list[Named]:
    return list(series.read([str(word) for word in words], tree=tree, store=store, reverse=reverse))


def refused(store: Store, *words: str | Path, tree: Path | None = None, reverse: tuple[str, ...] = ()) -> str:
    with pytest.raises(UserError) as error:
        read(store, *words, tree=tree, reverse=reverse)
    return str(error.value)


def test_files_keep_their_order_and_get_names_of_their_own(store: Store, tmp_path: Path) -> None:
    one = write(tmp_path / "a", **{"same name": FASTER})
    two = write(tmp_path / "b", **{"same name": COMMENT, "all": OTHER_COMMENT})
    result = read(store, *one, *two)
    assert [item.name for item in result] == ["same-name", "same-name-2", "all-2"]
    assert [item.patch.content.decode() for item in result] == [FASTER, COMMENT, OTHER_COMMENT]
    assert [item.origin for item in result] == [*one, *two]


def test_a_quilt_series_by_its_file_or_its_folder(store: Store, tmp_path: Path) -> None:
    write(tmp_path / "q", fast=FASTER, slow=COMMENT)
    (tmp_path / "q/series").write_text("# what we have\n\nslow.patch -p1\nfast.patch -R # taken out\n")
    for word in (tmp_path / "q", tmp_path / "q/series"):
        slow, fast = read(store, word)
        assert (slow.name, slow.patch.reverted) == ("slow", False)
        assert (fast.name, fast.patch.reverted) == ("without-fast", True)
    (tmp_path / "q/series").write_text("slow.patch\nnone.patch\nfast.patch -p0\n")
    message = refused(store, tmp_path / "q")
    assert f"{tmp_path}/q/series: line 2: names none.patch, which does not exist" in message
    assert f"{tmp_path}/q/series: line 3: option -p0: patches are applied with -p1" in message
    (tmp_path / "q/series").write_text("# nothing\n")
    assert "series: has no patches" in refused(store, tmp_path / "q")
    assert "a folder without a file `series`" in refused(store, tmp_path)


def test_what_is_no_patch_is_named_all_of_it(store: Store, tmp_path: Path) -> None:
    words = write(tmp_path / "p", empty="\n", prose="Dear all,\nnothing here.\n", good=FASTER)
    message = refused(store, *words, tmp_path / "none.patch")
    assert "empty.patch: the file is empty" in message
    assert "prose.patch: holds no unified diff" in message
    assert "none.patch: cannot be read (No such file or directory); name a patch file, a quilt series, or" in message
    assert "good" not in message
    assert "is named twice" in refused(store, words[2], words[2])
    same = write(tmp_path / "r", copy=FASTER)
    assert f"{same[0]}: is the same patch as {words[2]}" in refused(store, words[2], *same)


def test_a_path_with_dots_is_no_range(store: Store, tmp_path: Path) -> None:
    assert "cannot be read" in refused(store, "../none.patch")
    assert "cannot be read" in refused(store, "some/../none.patch")
    assert "a git range needs a folder; write FOLDER:a..b" in refused(store, "a..b")


def test_a_git_range(store: Store, tmp_path: Path) -> None:
    tree = git_tree(tmp_path / "tree", FASTER, COMMENT)
    result = read(store, "unpatched..work", tree=tree)
    assert [item.name for item in result] == ["01-Change-1-what-it-s-for", "02-Change-2-what-it-s-for"]
    hunks = [re.findall(r"^[-+] ?[^-+].*", item.patch.content.decode(), re.M) for item in result]
    assert hunks == [re.findall(r"^[-+] ?[^-+].*", text, re.M) for text in (FASTER, COMMENT)]
    assert re.fullmatch(r"commit [0-9a-f]{12} \(Change 1: what it's for\)", result[0].origin)
    again = read(store, f"{tree}:unpatched..")
    assert [item.patch.path for item in again] == [each.patch.path for each in result], "the same study again"
    git(tree, "commit", "-q", "--amend", "-m", "Another")
    assert read(store, "unpatched..work", tree=tree)[1].name == "02-Another"


def test_a_range_within_a_larger_tree_is_relative_to_the_source(store: Store, tmp_path: Path) -> None:
    tree = git_tree(tmp_path / "tree")
    (tree / "sub").mkdir()
    for name in ("outside.c", "sub/inside.c"):
        (tree / name).write_text("int a;\n")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "Both")
    (result,) = read(store, "unpatched..work", tree=tree / "sub")
    assert "+++ b/inside.c" in result.patch.content.decode()
    assert "outside.c" not in result.patch.content.decode()


def test_bytes_that_are_no_text_stay(store: Store, tmp_path: Path) -> None:
    tree = git_tree(tmp_path / "tree")
    (tree / "latin.c").write_bytes(b"/* \xe9 */\r\n")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "Latin")
    (result,) = read(store, "unpatched..work", tree=tree)
    assert b"+/* \xe9 */\r\n" in result.patch.content


def test_ranges_that_are_none(store: Store, tmp_path: Path) -> None:
    tree = git_tree(tmp_path / "tree", FASTER)
    assert "the range is empty: unpatched has no commit that work lacks" in refused(store, "work..unpatched", tree=tree)
    assert "has no commit 'none'" in refused(store, "unpatched..none", tree=tree)
    assert "is not a git tree" in refused(store, f"{tmp_path}:a..b")
    assert "there is no folder" in refused(store, f"{tmp_path}/none:a..b")
    git(tree, "commit", "-q", "--allow-empty", "-m", "Nothing")
    assert "(Nothing) changes no file here" in refused(store, "unpatched..work", tree=tree)
    git(tree, "checkout", "-q", "-b", "side", "unpatched")
    git(tree, "commit", "-q", "--allow-empty", "-m", "Side")
    git(tree, "merge", "-q", "--no-ff", "-m", "Merge", "work")
    assert "holds 1 merges" in refused(store, "unpatched..side", tree=tree)


def test_patches_are_turned_round_by_name(store: Store, tmp_path: Path) -> None:
    words = write(tmp_path / "p", fast=FASTER, slow=COMMENT)
    for name in ("slow", "slow.patch", words[1]):
        one, other = read(store, *words, reverse=(name,))
        assert (one.name, one.patch.reverted) == ("fast", False)
        assert (other.name, other.patch.reverted) == ("without-slow", True)
    assert all(item.patch.reverted for item in read(store, *words, reverse=("all",)))
    assert "unknown patch in --reverse 'slo' (did you mean 'slow'?)" in refused(store, *words, reverse=("slo",))
