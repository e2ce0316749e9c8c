from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.source.patches import patch as patches


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree/sub").mkdir(parents=True)
    (tmp_path / "tree/sub/a.c").write_text("".join(f"line {n}\n" for n in range(1, 41)))
    return tmp_path / "tree"


def diff(path: Path, old: str, new: str, *, at: int = 2, file: str = "sub/a.c") -> Path:
    lines = [f"--- a/{file}", f"+++ b/{file}", f"@@ -{at},3 +{at},3 @@", f" line {at}", f"-{old}", f"+{new}"]
    path.write_text("\n".join([*lines, f" line {at + 2}", ""]))
    return path


def test_applied_in_order(tree: Path, tmp_path: Path) -> None:
    first = diff(tmp_path / "1.patch", "line 3", "three")
    second = diff(tmp_path / "2.patch", "three", "drei")
    patches.apply([first, second], tree, what="x 1", exact=False)
    assert (tree / "sub/a.c").read_text().splitlines()[2] == "drei"
    assert [path.name for path in (tree / "sub").iterdir()] == ["a.c"]  # no backups, no rejects


def test_failure_names_patch_file_and_hunk(tree: Path, tmp_path: Path) -> None:
    good = diff(tmp_path / "good.patch", "line 3", "three").read_text()
    bad = diff(tmp_path / "bad.patch", "something else", "x", at=20).read_text()
    (tmp_path / "both.patch").write_text(good + "\n".join(bad.splitlines()[2:]) + "\n")
    with pytest.raises(
        UserError, match=r"both\.patch: does not apply to x 1: hunk #2 of sub/a\.c \(line 20\)"
    ) as error:
        patches.apply([tmp_path / "both.patch"], tree, what="x 1", exact=False)
    assert "\n" not in str(error.value)


def test_missing_file_is_named(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no file other\.c"):
        patches.apply([diff(tmp_path / "p", "a", "b", file="other.c")], tree, what="x", exact=False)


def test_patch_that_is_there_already(tree: Path, tmp_path: Path) -> None:
    patch = diff(tmp_path / "p", "line 3", "three")
    with pytest.raises(UserError, match=r"sub/a\.c seems to have it already"):
        patches.apply([patch, patch], tree, what="x", exact=False)


def test_patch_cannot_leave_the_tree(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("line 2\nline 3\nline 4\n")
    with pytest.raises(UserError, match=r"no file \.\./outside"):
        patches.apply([diff(tmp_path / "p", "line 3", "x", file="../outside")], tree, what="x", exact=False)
    assert "line 3" in (tmp_path / "outside").read_text()
    (tmp_path / "p").write_text("--- a/../new\n+++ b/../new\n@@ -0,0 +1 @@\n+x\n")
    with pytest.raises(UserError, match=r"\.\./new, outside the source"):
        patches.apply([tmp_path / "p"], tree, what="x", exact=False)
    assert not (tmp_path / "new").exists()


def test_exact_refuses_fuzz(tree: Path, tmp_path: Path) -> None:
    patch = diff(tmp_path / "p", "line 3", "three")
    patch.write_text(patch.read_text().replace(" line 4", " line four"))
    with pytest.raises(UserError, match="hunk #1"):
        patches.apply([patch], tree, what="x", exact=True)


@pytest.mark.parametrize("text", ["no patch", "--- a/sub/a.c\n+++ b/sub/a.c\n@@ -2,3 +2,3 @@\n line 2\n-line 3\n"])
def test_nonsense_is_one_line(tree: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "p").write_text(text)
    with pytest.raises(UserError, match="does not apply") as error:
        patches.apply([tmp_path / "p"], tree, what="x", exact=False)
    assert "\n" not in str(error.value)


def test_touched_files_get_one_time(tree: Path, tmp_path: Path) -> None:
    (tree / "b.c").write_text((tree / "sub/a.c").read_text())
    both = [diff(tmp_path / "1", "line 3", "x"), diff(tmp_path / "2", "line 3", "x", file="b.c")]
    patches.apply(both, tree, what="x", exact=False)
    assert (tree / "b.c").stat().st_mtime_ns == (tree / "sub/a.c").stat().st_mtime_ns


def test_no_patch_program(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="apt install patch"):
        patches.apply([diff(tmp_path / "p", "line 3", "x")], tree, what="x", exact=False)
