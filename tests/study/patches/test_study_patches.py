"""Patches in recipes, and builds handed over as scripts: whole studies on the fake engine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from burnish.catalogue import load
from burnish.record.events.builds import BuildMade
from burnish.record.events.study import CommandRun
from burnish.record.record import Record
from burnish.source.patches import overlay
from conftest import FAKE_SOURCE
from forking import Call
from scripts import run_script
from studying import QUICK, burnish, endless, events, study, text

FASTER = """--- a/fake.h
+++ b/fake.h
@@ -20,3 +20,3 @@
 #ifndef FAKE_SPEED
-#define FAKE_SPEED 100
+#define FAKE_SPEED 130
 #endif
"""
WORDS = ["--starts", "3", *QUICK, "--json"]


def recipes(folder: Path, **patches: list[str]) -> Path:
    """A file of variants with these patches, and the patch that makes the server faster beside it."""
    (folder / "p").mkdir(exist_ok=True)
    (folder / "p/faster.patch").write_text(FASTER)
    entries = [
        f'[{name}]\nreason = "A variant of a test of patches."\nrecipe = {{ patches = {json.dumps(paths)} }}\n'
        for name, paths in patches.items()
    ]
    path = folder / "mine.toml"
    path.write_text("".join(entries))
    return path


def source_of(home: Path) -> Path:
    return home / "work/fake/source"


def clean(home: Path) -> bool:
    """Whether the source is the shipped one and nothing is left beside it."""
    place = source_of(home)
    same = all((place / path.name).read_bytes() == path.read_bytes() for path in FAKE_SOURCE.iterdir())
    left = {path.name for path in place.parent.iterdir()} & {".source.clean", ".source.patched"}
    return same and not left


@pytest.mark.measures
def test_a_patch_is_seen_and_handed_over(burnish_home: Path, tmp_path: Path) -> None:
    own = recipes(tmp_path, patched=["p/faster.patch"], undone=["p/faster.patch", "-R p/faster.patch"])
    child = burnish("tune", "fake", "--variant", "patched,undone", "--recipes", own, *WORDS)
    out, err = text(child)
    assert child.returncode == 0, err
    found = json.loads(out)
    rows = {row["candidate"]: row for row in found["rows"]}
    builds = {row["variant"]: row for row in found["builds"]}
    assert rows["patched"]["verdict"] == "faster"
    assert 1.25 < rows["patched"]["capacity"]["ratio"] < 1.35
    assert rows["undone"]["verdict"] == "no effect", "put in and taken out: the baseline's program"
    assert builds["patched"]["toolchain"].endswith(" + 1 patch")
    assert builds["undone"]["toolchain"].endswith(" + 2 patches")
    assert any("patches/01-faster.patch, -R patches/02-faster.patch" in note for note in builds["undone"]["notes"])
    if platform.machine() == "x86_64":
        (changed,) = [note for note in builds["patched"]["notes"] if note.startswith("machine code: ")]
        assert re.fullmatch(r"machine code: 1 of \d+ functions differs: fake_work", changed)
    assert "patch" not in builds["baseline"]["toolchain"]
    assert clean(burnish_home)

    again = burnish("tune", "fake", "--variant", "patched", "--recipes", own, "--starts", "2", *QUICK, "--fresh")
    assert again.returncode == 0
    compiled = [command for command in commands_of_newest(burnish_home) if command.what == "compile server.c"]
    assert compiled == [], "a patched build is found again"

    place = tmp_path / "out"
    out, err = text(burnish("reproduce", "patched", "--output", place, "--json"))
    handed = json.loads(out)
    assert handed["files"][0] == "build.sh"
    assert {"patches/01-faster.patch", "source.sha256", "recipe.toml"} <= set(handed["files"])
    mine = load.read_variants(place / "recipe.toml")["patched"]
    assert mine.recipe.patches == (str(place / "patches/01-faster.patch"),)
    assert mine.reason == "A variant of a test of patches."
    # As on a machine that never saw Burnish: its home is gone, its packages are not on the path.
    shutil.move(burnish_home, tmp_path / "away")
    done = run_script(place / "build.sh", FAKE_SOURCE, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert hashlib.sha256((tmp_path / "server").read_bytes()).hexdigest() == handed["sha256"]
    shutil.move(tmp_path / "away", burnish_home)

    for words, says in (
        (["reproduce", "pached"], "unknown variant or build 'pached' (did you mean 'patched'?)"),
        (["reproduce", "patched", "--output", str(place)], "this folder exists and is not empty"),
        (["reproduce", "patched", "--run", "nothing"], "unknown run 'nothing'"),
    ):
        child = burnish(*words)
        assert child.returncode == 2
        assert says in text(child)[1]


def commands_of_newest(home: Path) -> list[CommandRun]:
    newest = max((home / "studies").glob("*"), key=lambda path: path.stat().st_mtime)
    with closing(Record(newest)) as record:
        return [each.event for each in record.events(CommandRun)]


@pytest.mark.parametrize(
    ("patches", "says"),
    [
        (["p/none.patch"], "cannot be read (No such file or directory)"),
        (["p/faster.patch", "p/faster.patch"], "has it already"),
        (["-R p/faster.patch"], "does not have it, so it cannot be taken out"),
        (["p/other.patch"], "there is no file nowhere.c"),
        (["p/stale.patch"], "hunk #1 of fake.h (line 20) does not match"),
        (["p/empty.patch"], "the file is empty"),
    ],
)
def test_a_patch_that_does_not_fit_is_one_line_before_any_build(
    burnish_home: Path, tmp_path: Path, patches: list[str], says: str
) -> None:
    own = recipes(tmp_path, mine=patches)
    (tmp_path / "p/other.patch").write_text(FASTER.replace("fake.h", "nowhere.c"))
    (tmp_path / "p/stale.patch").write_text(FASTER.replace("SPEED 100", "SPEED 99"))
    (tmp_path / "p/empty.patch").write_text("")
    child = burnish("tune", "fake", "--variant", "mine", "--recipes", own, *WORDS)
    _, err = text(child)
    assert child.returncode == 2, err
    assert says in err
    assert "variant mine: patch " in err
    assert not list(burnish_home.glob("studies/*")), "nothing half-made is left behind"
    assert not list(burnish_home.glob("store/builds/*"))


@pytest.mark.measures
def test_a_changed_patch_is_another_study(burnish_home: Path, tmp_path: Path) -> None:
    own = recipes(tmp_path, mine=["p/faster.patch"])
    child = burnish("tune", "fake", "--variant", "mine", "--recipes", own, *WORDS, wait=False)
    _wait(lambda: bool(list(burnish_home.glob("studies/*/record.sqlite"))), child)
    child.kill()
    child.wait()
    first = study(burnish_home)
    (tmp_path / "p/faster.patch").write_text(FASTER.replace("SPEED 130", "SPEED 150"))
    child = burnish("tune", "fake", "--variant", "mine", "--recipes", own, *WORDS)
    out, err = text(child)
    assert child.returncode == 0, err
    assert "resuming" not in err
    assert len({first, *burnish_home.glob("studies/*")}) == 2
    assert 1.4 < json.loads(out)["rows"][0]["capacity"]["ratio"] < 1.6


def _wait(condition: Callable[[], bool], child: Call) -> None:
    deadline = time.monotonic() + 120
    while not condition() and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.002)
    assert condition(), text(child)


@pytest.mark.measures
@pytest.mark.parametrize("moment", ["patching", "compiling"])
def test_killed_between_patching_and_building(
    burnish_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Killed while the patched tree is made, and when it has the place: never taken for clean."""
    own = recipes(tmp_path, mine=["p/faster.patch"])
    program, where = {
        "patching": ("patch", '[ "${PWD##*/}" = .source.patched ]'),  # in planning it works on copies elsewhere
        "compiling": ("mkdir", '[ "${PWD##*/}" = build ] && [ -e ../.source.clean ]'),
    }[moment]
    monkeypatch.setenv("PATH", endless(tmp_path / "programs", program, where))
    words = ["tune", "fake", "--variant", "mine", "--recipes", str(own), *WORDS]
    child = burnish(*words, wait=False)
    place = source_of(burnish_home)
    seen = {
        "patching": (place.with_name(".source.patched") / overlay.MARKER).exists,
        "compiling": lambda: overlay.clean_place(place).exists() and (place.parent / "build/bin").exists(),
    }[moment]
    _wait(seen, child)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert not clean(burnish_home)
    monkeypatch.undo()
    monkeypatch.setenv("BURNISH_HOME", str(burnish_home))
    again = burnish(*words)
    out, err = text(again)
    assert again.returncode == 0, err
    assert "resuming" in err
    (row,) = json.loads(out)["rows"]
    assert 1.25 < row["capacity"]["ratio"] < 1.35
    assert clean(burnish_home)
    baseline = [made.key for made in events(burnish_home, BuildMade) if made.build.name == "baseline"]
    assert len(set(baseline)) == 1, "the baseline is still the unpatched one"
