"""The shipped sets of patches: each says why it is here, and is a diff of the files that it names."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.micro import micros
from burnish.catalogue.patches import WORD, CataloguePatch, located, patch, patch_set, patch_sets, read_set, table
from burnish.model.recipe import Marks
from burnish.record.store import Store
from burnish.source.patches import patch as patching
from burnish.source.patches import series
from burnish.source.patches.patch import Patch
from burnish.workload.conditions import condition_of
from conftest import FAKE_SOURCE

DOCS = Path(__file__).parents[2] / "docs"
SOURCE_VARIABLE = "BURNISH_TEST_MARIADB_SOURCE"
"""Names MariaDB's unpacked source for the tests that need it."""

ENTRIES = [entry for patch_set in patch_sets().values() for entry in patch_set.patches.values()]
DIFFS = [entry for entry in ENTRIES if entry.path is not None]
HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")

ABOUT = """
[about]
engine = "mariadb"
title = "A set for a test"
tree = "10.11"
table = "arm-patches"
reason = "A set of patches that a test has written."
"""
ENTRY = """
[one]
title = "a patch"
bugs = [1]
direction = "applied"
does = "Something that it did not do before."
reason = "So that a test can read an entry that is whole."
published = "nothing"
today = "absent"
touches = ["a.c"]
on = { x86_64 = "shows" }
[[one.loads]]
workload = "oltp_read_only"
reason = "Everything shows there, in a test."
"""


def hunks(text: str) -> list[tuple[int, int, int, int]]:
    """For each hunk: lines before and after as its head says, and as they are there."""
    result: list[tuple[int, int, int, int]] = []
    for line in text.splitlines():
        if match := HUNK.match(line):
            result.append((int(match[1] or 1), int(match[2] or 1), 0, 0))
        elif result and not line.startswith(("--- a/", "+++ b/")):
            old, new, before, after = result[-1]
            result[-1] = (old, new, before + (line[:1] in "- "), after + (line[:1] in "+ "))
    return result


@pytest.mark.parametrize("entry", DIFFS, ids=lambda entry: entry.word)
def test_a_diff_is_well_formed_and_touches_what_its_entry_says(entry: CataloguePatch) -> None:
    assert entry.path is not None
    text = entry.path.read_text()
    names = re.findall(r"^\+\+\+ b/(\S+)$", text, re.MULTILINE)
    assert re.findall(r"^--- a/(\S+)$", text, re.MULTILINE) == names
    assert sorted(names) == sorted(entry.touches)
    assert hunks(text)
    for old, new, before, after in hunks(text):
        assert (old, new) == (before, after)
    head = text.partition("\n--- a/")[0]
    assert len(head) > 40, "what the patch does stands before the diff"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.word)
def test_what_an_entry_names_is_there(entry: CataloguePatch) -> None:
    spec = load.engine(patch_set(entry.set).engine)
    for item in entry.loads:
        load.workload(spec, item.workload)
        condition_of(item.words, spec.settings)
    assert set(entry.micro) <= set(micros())
    assert entry.marks == Marks()


@pytest.mark.parametrize("name", ["arm-2020", "arm-2020-mysql"])
def test_every_bug_of_the_article_has_an_entry(name: str) -> None:
    bugs = {bug for entry in patch_set(name).patches.values() for bug in entry.bugs}
    relaxed = {97228, 97230, 97703, 97704, 97765, 97766, 97767, 99432}
    assert bugs == relaxed | {79144, 85819, 99118, 98737, 79455, 87933, 98499}


def test_no_diff_is_without_an_entry() -> None:
    for entries in patch_sets().values():
        folder = next(path.parent for entry in entries.patches.values() if (path := entry.path))
        assert {path.stem for path in folder.iterdir()} == {e.name for e in entries.patches.values() if e.path}


def test_x86_shows_some_and_has_the_relaxed_ones_for_controls() -> None:
    arm = patch_set("arm-2020")
    controls = {entry.name for entry in arm.patches.values() if entry.ability("x86_64") == "control"}
    assert "rw-lock-word" in controls
    assert not any(entry.ability("aarch64") == "control" for entry in arm.patches.values())
    here = {entry.name for entry in arm.measurable("x86_64")}
    there = {entry.name for entry in arm.measurable("aarch64")}
    assert here - there == {"cache-line-128"}
    assert there - here == {"cache-line-64"}


def test_what_was_left_out_of_the_published_set_is_left_out_of_the_whole_set() -> None:
    """The article could not make the spin loop's delay pay: 87933 is measured alone."""
    arm = patch_set("arm-2020")
    assert {name for name, entry in arm.patches.items() if not entry.in_set} == {
        "spin-wait-pause",
        "spin-wait-exchange",
    }
    for architecture in ("x86_64", "aarch64"):
        assert not [path.stem for side in arm.sides(architecture) for path in side if "spin-wait" in path.stem]


def test_a_side_is_made_of_patches_of_one_direction() -> None:
    without, with_ = patch_set("arm-2020").sides("x86_64")
    assert {path.stem for path in with_} == {"sched-getcpu", "cache-line-128"}
    assert {"crc32c-hardware", "my-convert-wide", "rw-lock-word"} < {path.stem for path in without}
    assert "cache-line-64" not in {path.stem for path in (*without, *with_)}, "no x86 code in it"


def test_a_shipped_patch_is_found_by_its_word() -> None:
    entry = patch("patches/arm-2020/crc32c-hardware")
    assert entry == patch("arm-2020/crc32c-hardware")
    assert entry.word == f"{WORD}arm-2020/crc32c-hardware"
    assert located(entry.word) == entry.path
    assert located("mine/own.patch") == Path("mine/own.patch")
    assert located("patches/own.patch") == Path("patches/own.patch")


def test_the_verb_patch_takes_the_word(tmp_path: Path) -> None:
    (named,) = series.read(["patches/arm-2020/crc32c-hardware"], tree=None, store=Store(tmp_path))
    assert named.name == "crc32c-hardware"
    with pytest.raises(UserError, match="did you mean 'crc32c-hardware'"):
        series.read(["patches/arm-2020/crc32c-hardwear"], tree=None, store=Store(tmp_path))


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("arm-2020/crc32-hardwear", "did you mean 'crc32-hardware'"),
        ("arm-2021/crc32-hardware", "did you mean 'arm-2020'"),
        ("arm-2020/os-once", "std::mutex"),
    ],
)
def test_a_word_without_a_patch_says_why(word: str, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        patch(word)


def written(folder: Path, entry: str) -> Path:
    (folder / "mine").mkdir()
    (folder / "mine/one.patch").write_text("--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-a\n+b\n")
    path = folder / "mine.toml"
    path.write_text(ABOUT + entry)
    return path


def test_a_set_of_ones_own_is_read(tmp_path: Path) -> None:
    result = read_set(written(tmp_path, ENTRY))
    assert result.patches["one"].path == tmp_path / "mine/one.patch"
    assert result.sides("x86_64") == ([], [tmp_path / "mine/one.patch"])
    assert result.sides("aarch64") == ([], [])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('reason = "So that a test can read an entry that is whole."', "", "one: reason"),
        ('reason = "So that a test can read an entry that is whole."', 'reason = "short"', "one: reason"),
        ('touches = ["a.c"]', "", "say touches of the patch"),
        ('on = { x86_64 = "shows" }', "", "say on of the patch"),
        ('on = { x86_64 = "shows" }', 'on = { x86_64 = "maybe" }', "on.x86_64"),
        ('direction = "applied"', 'direction = "none"', "leave it out"),
        ("[one]", "[two]", "there is no file mine/two.patch"),
        ("bugs = [1]", "bugs = [1]\ncolour = 'red'", "colour"),
    ],
)
def test_an_entry_that_says_too_little_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = ENTRY.replace(old, new).replace("[[one.", "[[two." if new == "[two]" else "[[one.")
    with pytest.raises(UserError, match=re.escape(said)):
        read_set(written(tmp_path, text))


@pytest.mark.parametrize("name", ["arm-2020", "arm-2020-mysql"])
def test_the_documentation_has_the_table_of_today(name: str) -> None:
    text = (DOCS / "studies" / "ARM-2020.md").read_text()
    assert "\n".join(table(patch_set(name))) in text, "docs/studies/ARM-2020.md: put the table in again"


def copy_of(names: set[str], source: Path, place: Path) -> Path:
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, place / name)
    return place


def mariadb_source() -> Path:
    """MariaDB's source, or the reason why the test is skipped."""
    named = os.environ.get(SOURCE_VARIABLE)
    if not named:
        pytest.skip(f"no source of MariaDB; name one in {SOURCE_VARIABLE}")
    return Path(named)


def applies(entry: CataloguePatch, source: Path, place: Path) -> None:
    assert entry.path is not None
    tree = copy_of(set(entry.touches), source, place)
    notes = patching.apply([Patch(entry.path, entry.path.read_bytes())], tree, what="the source", exact=True)
    assert notes == ()


def of_engine(name: str) -> list[CataloguePatch]:
    return [entry for entry in DIFFS if patch_set(entry.set).engine == name]


@pytest.mark.real
@pytest.mark.parametrize("entry", of_engine("mariadb"), ids=lambda entry: entry.word)
def test_a_patch_applies_to_the_line(entry: CataloguePatch, tmp_path: Path) -> None:
    applies(entry, mariadb_source(), tmp_path)


@pytest.mark.parametrize("entry", of_engine("fake"), ids=lambda entry: entry.word)
def test_a_patch_to_the_fake_engine_applies_to_the_line(entry: CataloguePatch, tmp_path: Path) -> None:
    applies(entry, FAKE_SOURCE, tmp_path)


@pytest.mark.real
@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
def test_all_patches_of_a_side_apply_together(architecture: str, tmp_path: Path) -> None:
    arm = patch_set("arm-2020")
    for number, side in enumerate(arm.sides(architecture)):
        names = {name for entry in arm.patches.values() if entry.path in side for name in entry.touches}
        tree = copy_of(names, mariadb_source(), tmp_path / str(number))
        patching.apply([Patch(path, path.read_bytes()) for path in side], tree, what="MariaDB", exact=False)
