"""What a report says of each patch, and how its function is measured by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from burnish.report import evidence
from burnish.report.bundled.table import StudyTable
from burnish.report.document import Literal
from burnish.report.sections.bundled import patches as study_patches
from drawn import points, title


def facts(word: str, direction: str = "reverted", micro: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "patch": word, "bugs": [1], "direction": direction, "does": "It does something.", "published": "no figure",
        "today": "in the tree", "micro": list(micro), "shows": "shows",
    }  # fmt: skip


def table(**patches: dict[str, Any]) -> StudyTable:
    return StudyTable("s", "S", "r", (), (), {}, {}, {}, (), (), {}, patches=patches)


def test_functions_are_named_with_the_command_that_times_them() -> None:
    found = table(
        one=facts("patches/x/one", micro=("crc32c", "crc32")),
        two=facts("patches/x/two", "applied"),
        gone=facts("patches/x/gone", "none"),
    )
    about, micro = study_patches.sections(found)
    assert [line.partition(":")[0] for line in points(about)] == ["one", "two"], (
        "one without a patch has its row's reason"
    )
    assert points(about)[0] == "one: reverted (in the tree): It does something. Published: no figure."
    assert Literal(("burnish micro crc32c crc32 --patch-b patches/x/one",)) in micro.blocks
    assert "--check aarch64" in points(micro)[-1]


def test_what_a_patch_changes_in_the_machine_code_is_listed() -> None:
    found = replace(table(one=facts("patches/x/one")), changed={"without-one": "1 of 9 functions differs: f"})
    _, changed = study_patches.sections(found)
    assert "machine code" in title(changed)
    assert points(changed) == ["without-one: 1 of 9 functions differs: f"]


@pytest.mark.parametrize(
    ("facts_", "said"),
    [
        ({"differ": []}, "none of 1,200 functions differs: only their places or their data do"),
        ({"differ": ["f"]}, "1 of 1,200 functions differs: f"),
        ({"differ": ["a", "b", "c", "d", "e"]}, "5 of 1,200 functions differ: a, b, c and 2 more"),
        ({"differ": ["f"], "gone": ["g"], "new": ["h", "i"]}, "1 of 1,200 functions differs: f; gone: g; new: h, i"),
        ({"differ": [], "new": ["h"]}, "none of 1,200 functions differs; new: h"),
        (
            {"differ": [], "note": "no symbols: functions can't be told apart"},
            "no symbols: functions can't be told apart",
        ),
    ],
)
def test_functions_that_differ_in_a_line(facts_: dict[str, Any], said: str) -> None:
    assert evidence.changed({"functions": 1200, "gone": [], "new": [], "note": "", **facts_}) == said


def test_a_study_without_patches_says_nothing_of_them() -> None:
    assert study_patches.sections(table()) == []
    assert study_patches.legend(table(), []) == []
    (only,) = study_patches.sections(table(one=facts("patches/x/one")))
    assert "patched tree" in title(only)
