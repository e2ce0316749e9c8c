"""A bundled study of patches: the direction of its ratios, the patches, and how to measure each function alone."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.catalogue.bundled.published import SAMPLES
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.compose import points, section
from burnish.report.document import Literal, Section

RATIOS = "Ratios are with / without, as published"
"""The direction of all ratios, whether the patch is applied to today's tree or reverted."""

DIRECTIONS = (
    "of a reverted patch (the tree has it) the tree as it is over the patched one, of an applied one (it lacks it) the "
    "patched tree over the tree as it is"
)

ABILITIES = (
    "shows: the machine code does something else; control: the same instructions, so that any difference found is a "
    "false one; identical: the same machine code; no patch: the tree has nothing to patch"
)
"""What each patch can show on an architecture."""

SHARES = "published as two numbers: per cent of the samples in the patch's function, without it and with it"


CHANGED = "What they change in the machine code, wherever the linker has put it"


def legend(table: StudyTable, lines: Sequence[Line]) -> list[str]:
    """The notes below a table of patches: the direction of its ratios, and what its words mean."""
    if not table.patches:
        return []
    if not any(line.shows for line in lines):
        return [f"{RATIOS}: all patches that this architecture shows in, over all of them out."]
    notes = [
        f"{RATIOS}: {DIRECTIONS}.",
        f"here, on {table.architecture or 'this architecture'}: {ABILITIES}.",
    ]
    return [*notes, SHARES] if any(line.published_unit == SAMPLES for line in lines) else notes


def sections(table: StudyTable) -> list[Section]:
    """What each patch is, what it changes in the machine code, and how its function is measured by itself."""
    here = {row: facts for row, facts in table.patches.items() if facts["direction"] != "none"}
    if not here:
        return []
    about = points(
        f"{row}: {facts['direction']} ({facts['today']}): {facts['does']} Published: {facts['published']}."
        for row, facts in here.items()
    )
    micro = [
        f"burnish micro {' '.join(facts['micro'])} --patch-b {facts['patch']}"
        for facts in here.values()
        if facts["micro"]
    ]
    result = [section("patches", "The patches: what the patched tree does otherwise", about)]
    if table.changed:
        lines = points(f"{variant}: {functions}" for variant, functions in table.changed.items())
        result.append(section("changed", CHANGED, lines))
    if micro:
        sides = "B is the patched tree; --check aarch64 compares its ARM code's results with A's, under qemu"
        title = "Functions by themselves, for what no load resolves"
        result.append(section("micro", title, Literal(tuple(micro)), points([sides])))
    return result
