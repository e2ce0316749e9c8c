"""Builds that are the same program are measured once, also in a run that is resumed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from burnish.model.cell import BuildId
from burnish.record.events.builds import InstructionNeeds, ProgramExamined, ProgramFacts
from burnish.record.events.patches import TwinFound
from burnish.record.record import Record
from burnish.study.builds.programs import same_before


def examined(variant: str, code: str) -> ProgramExamined:
    facts = ProgramFacts("x86-64", 64, code, "data", {}, (), (), symbols=True)
    return ProgramExamined(BuildId(variant), f"key of {variant}", {}, facts, InstructionNeeds(""))


def test_a_twin_of_what_is_decided_already_is_not_measured(tmp_path: Path) -> None:
    """The run was killed after `fast` was decided: only `all` and `other` are open."""
    with closing(Record(tmp_path / "run", create=True)) as record:
        for event in (examined("fast", "a"), examined("all", "a"), TwinFound("all", "fast"), examined("other", "b")):
            record.append(event)
        assert same_before(record, ["all", "other"]) == {"all": "fast"}
        assert same_before(record, ["fast", "all", "other"]) == {}, "both are open: they are compared anew"
        record.append(examined("all", "c"))
        assert same_before(record, ["all", "other"]) == {}, "it was made again and came out otherwise"
