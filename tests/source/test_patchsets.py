"""A recipe's patches: read, named by content, tried both ways before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.model.recipe import Recipe, Variant
from burnish.source.patches import patch_set
from burnish.source.patches.patch import Patch

THREE = "--- a/sub/a.c\n+++ b/sub/a.c\n@@ -2,3 +2,3 @@\n line 2\n-line 3\n+three\n line 4\n"
DREI = THREE.replace("+three", "+drei").replace("-line 3", "-three")
REASON = "a reason that is long enough"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree/sub").mkdir(parents=True)
    (tmp_path / "tree/sub/a.c").write_text("".join(f"line {n}\n" for n in range(1, 41)))
    (tmp_path / "tree/b.c").write_text("int b;\n")
    return tmp_path / "tree"


def patch(text: str, name: str = "my.patch", *, reverted: bool = False) -> Patch:
    return Patch(Path("/p") / name, text.encode(), reverted)


def variant(*patches: str | Path) -> Variant:
    return Variant("mine", Recipe(patches=tuple(map(str, patches))), REASON)


def test_read_in_order_with_their_direction(tmp_path: Path) -> None:
    (tmp_path / "one.patch").write_text(THREE)
    (tmp_path / "two.patch").write_text(DREI)
    one, two = patch_set.read(variant(tmp_path / "one.patch", f"-R {tmp_path / 'two.patch'}"))
    assert (one.path.name, one.reverted, one.content.decode()) == ("one.patch", False, THREE)
    assert (two.path.name, two.reverted) == ("two.patch", True)
    assert two.word == f"-R {tmp_path / 'two.patch'}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "cannot be read (No such file or directory); a path in a recipe is relative"),
        ("", "the file is empty"),
        (" \n\n", "the file is empty"),
        ("Subject: none\n\nnothing to see\n", "holds no unified diff"),
    ],
)
def test_what_is_no_patch_is_named(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "p.patch"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError) as error:
        patch_set.read(variant(path))
    assert str(error.value).startswith(f"variant mine: patch {path}: ")
    assert says in str(error.value)


def test_paths_are_relative_to_the_recipes_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'[v]\nreason = "{REASON}"\nrecipe = {{ patches = ["p/a.patch", "-R b.patch", "/abs/c.patch"] }}\n')
    recipe = load.read_variants(path)["v"].recipe
    assert recipe.patches == (f"{tmp_path}/p/a.patch", f"-R {tmp_path}/b.patch", "/abs/c.patch")


def test_the_sources_name_is_its_own_without_patches_and_else_says_all_of_them() -> None:
    one, two = patch(THREE), patch(DREI)
    names = [
        patch_set.source_digest("source", found)
        for found in ([], [one], [two], [one, two], [two, one], [patch(THREE, reverted=True)])
    ]
    assert names[0] == "source"
    assert len(set(names)) == len(names)
    assert patch_set.source_digest("source", [patch(THREE, "other-name")]) == names[1], "content, not name"


def test_patches_that_build_on_each_other_are_tried_together(tree: Path) -> None:
    before = (tree / "sub/a.c").read_bytes()
    assert patch_set.fit([patch(THREE), patch(DREI)], tree, "x 1") == ()
    assert (tree / "sub/a.c").read_bytes() == before, "only copies are changed"
    with pytest.raises(UserError, match=r"hunk #1 of sub/a\.c \(line 2\) does not match"):
        patch_set.fit([patch(DREI), patch(THREE)], tree, "x 1")


def test_one_that_is_there_already_is_said(tree: Path) -> None:
    with pytest.raises(UserError, match=r"/p/my\.patch: x 1 has it already; leave it out, or write '-R /p/my\.patch'"):
        patch_set.fit([patch(THREE), patch(THREE)], tree, "x 1")
    assert patch_set.fit([patch(THREE), patch(THREE, reverted=True)], tree, "x 1") == ()


def test_one_to_revert_that_is_not_there_is_said(tree: Path) -> None:
    with pytest.raises(UserError, match=r"/p/my\.patch: x 1 does not have it.*leave -R out"):
        patch_set.fit([patch(THREE, reverted=True)], tree, "x 1")
    with pytest.raises(UserError, match=r"cannot be reverted in x 1: hunk #1 of sub/a\.c"):
        patch_set.fit([patch(DREI, reverted=True)], tree, "x 1")


def test_a_patch_for_another_tree_and_one_that_leaves_it(tree: Path) -> None:
    with pytest.raises(UserError, match=r"there is no file other/z\.c"):
        patch_set.fit([patch(THREE.replace("sub/a.c", "other/z.c"))], tree, "x 1")
    with pytest.raises(UserError, match="outside the source"):
        patch_set.fit([patch("--- a/../new\n+++ b/../new\n@@ -0,0 +1 @@\n+x\n")], tree, "x 1")


def test_a_hunk_that_fits_elsewhere_is_noted(tree: Path) -> None:
    moved = THREE.replace("@@ -2,3 +2,3 @@", "@@ -12,3 +12,3 @@")
    assert patch_set.fit([patch(moved)], tree, "x 1") == ("my.patch: hunk #1 of sub/a.c applies (offset -10 lines)",)


def test_new_renamed_and_removed_files(tree: Path) -> None:
    new = "--- /dev/null\n+++ b/new/n.c\n@@ -0,0 +1 @@\n+int n;\n"
    gone = "--- a/b.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-int b;\n"
    renamed = "diff --git a/b.c b/c.c\nsimilarity index 100%\nrename from b.c\nrename to c.c\n"
    assert patch_set.fit([patch(new), patch(gone)], tree, "x 1") == ()
    assert patch_set.fit([patch(renamed)], tree, "x 1") == ()
    with pytest.raises(UserError, match="has it already"):
        patch_set.fit([patch(new), patch(new)], tree, "x 1")


def test_the_variant_whose_patch_fails_is_named(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "p.patch").write_text(DREI)
    plain = Variant("plain", Recipe(), REASON)
    assert patch_set.fitted(plain, tree) == ((), ())
    with pytest.raises(UserError, match=r"variant mine: patch /.*p\.patch: does not apply to .*hunk #1 of sub/a\.c"):
        patch_set.fitted(variant(tmp_path / "p.patch"), tree)


def test_where_the_tree_is_not_there_yet_patches_are_read_only(tmp_path: Path) -> None:
    """As in a forecast: what is wrong with the files is said all the same."""
    (tmp_path / "p.patch").write_text("--- a/no.c\n+++ b/no.c\n@@ -1 +1 @@\n-a\n+b\n")
    (result,), notes = patch_set.fitted(variant(tmp_path / "p.patch"), None)
    assert (result.path.name, notes) == ("p.patch", ())
    (tmp_path / "p.patch").write_text("")
    with pytest.raises(UserError, match="the file is empty"):
        patch_set.fitted(variant(tmp_path / "p.patch"), None)
