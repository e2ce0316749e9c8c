"""The patched tree takes the clean one's place for a while; killed at any moment, the clean one comes back."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.source.patches import overlay
from burnish.source.patches.patch import Patch

CHANGE = Patch(Path("/p/x.patch"), b"--- a/sub/a.c\n+++ b/sub/a.c\n@@ -1 +1 @@\n-int a;\n+int patched;\n")
NEW = Patch(Path("/p/n.patch"), b"--- /dev/null\n+++ b/new.c\n@@ -0,0 +1 @@\n+int n;\n")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    tree = tmp_path / "work/source"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub/a.c").write_text("int a;\n")
    (tree / "b.c").write_text("int b;\n")
    (tree / "link").symlink_to("b.c")
    (tree / overlay.MARKER).write_text(json.dumps({"digest": "clean", "name": "x", "version": "1"}))
    return tree


def clean(place: Path) -> bool:
    """Whether the clean tree is at its place and nothing is left beside it."""
    return (
        (place / "sub/a.c").read_text() == "int a;\n"
        and not (place / "new.c").exists()
        and json.loads((place / overlay.MARKER).read_text())["digest"] == "clean"
        and [path.name for path in place.parent.iterdir()] == ["source"]
    )


def test_patched_within_and_clean_around(place: Path) -> None:
    inode = place.stat().st_ino, (place / "sub/a.c").stat().st_ino, (place / "sub/a.c").stat().st_mtime_ns
    with overlay.patched(place, [CHANGE, NEW], "other"):
        assert (place / "sub/a.c").read_text() == "int patched;\n"
        assert (place / "new.c").is_file()
        assert (place / "b.c").stat().st_nlink == 2, "what no patch touches is shared"
        assert (place / "link").readlink() == Path("b.c")
        assert json.loads((place / overlay.MARKER).read_text())["digest"] == "other"
        assert (overlay.clean_place(place) / "sub/a.c").read_text() == "int a;\n"
    assert clean(place)
    assert inode == (place.stat().st_ino, (place / "sub/a.c").stat().st_ino, (place / "sub/a.c").stat().st_mtime_ns)


def test_where_there_are_no_links_it_is_patched_in_a_copy(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(source: str, *_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), source)

    monkeypatch.setattr("os.link", refused)
    with overlay.patched(place, [CHANGE], "other"):
        assert (place / "sub/a.c").read_text() == "int patched;\n"
        assert (place / "b.c").read_text() == "int b;\n"
    assert clean(place)


def test_without_patches_nothing_moves(place: Path) -> None:
    with overlay.patched(place, [], "clean"):
        assert clean(place)


def test_a_build_that_fails_leaves_the_clean_tree(place: Path) -> None:
    with pytest.raises(RuntimeError), overlay.patched(place, [CHANGE], "other"):
        raise RuntimeError
    assert clean(place)


# What a run that is killed at each of its moves leaves: the draft half linked, the clean tree away, both renamed.
def _drafting(place: Path) -> None:
    (place.with_name(".source.patched") / "sub").mkdir(parents=True)


def _moved(place: Path) -> None:
    _drafting(place)
    place.rename(overlay.clean_place(place))


def _swapped(place: Path) -> None:
    _moved(place)
    place.with_name(".source.patched").rename(place)


def _half_removed(place: Path) -> None:
    _swapped(place)
    place.rename(place.with_name(".source.patched"))


@pytest.mark.parametrize("moment", [_drafting, _moved, _swapped, _half_removed])
def test_recovered_from_every_state(place: Path, moment: Callable[[Path], None]) -> None:
    moment(place)
    overlay.recover(place)
    assert clean(place)
    overlay.recover(place)
    assert clean(place)


@pytest.mark.parametrize("shared", [True, False])
def test_killed_within(place: Path, shared: bool) -> None:
    """A real process, killed while the patched tree is at the place."""
    program = (
        "import os, sys; from pathlib import Path; from burnish.source.patches import overlay; "
        "from burnish.source.patches.patch import Patch\n"
        f"with overlay.patched(Path({str(place)!r}), [Patch(Path('/p'), {CHANGE.content!r})], 'other'):\n"
        "    print('in', flush=True); sys.stdin.read()\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"in\n"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert not clean(place)
    if shared:  # the next patched build finds it, too
        with overlay.patched(place, [NEW], "third"):
            assert (place / "sub/a.c").read_text() == "int a;\n"
    else:
        overlay.recover(place)
    assert clean(place)


def test_names_in_patches() -> None:
    text = (
        b"diff --git a/x/old.c b/x/new.c\nrename from x/old.c\nrename to x/new.c\n"
        b"--- a/x/old.c\t2020-01-01 00:00:00\n+++ b/x/new.c 2020-01-01 00:00:00\r\n"
        b"Index: y/z.c\n--- /dev/null\n+++ b/../evil\n"
    )
    result = set(overlay.touched([Patch(Path("p"), text)]))
    assert {"x/old.c", "x/new.c", "z.c"} <= result
    assert not any(".." in name or name.startswith("/") for name in result)


def test_names_that_git_writes_in_quotes() -> None:
    """Without this a good patch was refused: the file that it changes was not among those that it was tried on."""
    text = (
        b'diff --git "a/t/caf\\303\\251.c" "b/t/caf\\303\\251.c"\n--- "a/t/caf\\303\\251.c"\n+++ "b/t/a\\"\\\\b\\8.c"\n'
    )
    assert {"t/café.c", 't/a"\\b8.c'} <= set(overlay.touched([Patch(Path("p"), text)]))
