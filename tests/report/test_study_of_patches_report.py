"""What a report says of each patch, and how its function is measured by itself."""

from __future__ import annotations

from typing import Any

from burnish.report import study_patches
from burnish.report.study_table import StudyTable


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
    about, micro = study_patches.blocks(found)
    assert [line.partition(":")[0] for line in about.lines] == ["one", "two"], (
        "one without a patch has its row's reason"
    )
    assert about.lines[0] == "one: reverted (in the tree): It does something. Published: no figure."
    assert micro.lines[:-1] == ("burnish micro crc32c crc32 --patch-b patches/x/one",)
    assert "--check aarch64" in micro.lines[-1]


def test_a_study_without_patches_says_nothing_of_them() -> None:
    assert study_patches.blocks(table()) == []
    assert study_patches.legend(table(), []) == []
    (only,) = study_patches.blocks(table(one=facts("patches/x/one")))
    assert "patched tree" in only.title
