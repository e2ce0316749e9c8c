"""Builds and programs as events of the record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from burnish.engines.contract import GateReport
from burnish.model.cell import BuildId
from burnish.program import built
from burnish.record.codec import plain, value_of
from burnish.record.events.builds import (
    BuildsPlanned,
    GateFindings,
    Identity,
    InstructionNeeds,
    ProgramExamined,
    ProgramFacts,
    StageDone,
)
from burnish.record.record import Record


def build_id(name: str) -> BuildId:
    """The build of a chain: a variant's only one, or one of its replicates (``name#2``)."""
    variant, _, replicate = name.partition("#")
    return BuildId(variant, int(replicate)) if re.fullmatch(r"[1-9]\d*", replicate) else BuildId(name)


def unsaid(record: Record, key: str) -> bool:
    """Whether a step's work is in the store, but its event is not in the record: the run was killed between the two.

    Args:
        record: the run's; what it planned to do and finds in the store, it has done.
        key: the step's.
    """
    if record.last(StageDone, key=key) is not None:
        return False
    plans = (recorded.event for recorded in record.events(BuildsPlanned))
    return any(step.key == key and not step.cached for plan in plans for step in plan.steps)


def identity_recorded(identity: built.Identity) -> Identity:
    """A program's version and features, for the record."""
    return value_of(Identity, plain(asdict(identity)))


def program_examined(
    build: BuildId, key: str, tried: Mapping[str, str | None], facts: Mapping[str, Any]
) -> ProgramExamined:
    """The facts read from a program's file, for the record.

    Args:
        build: whose program.
        key: the build's key.
        tried: by processor, why it does not run there.
        facts: ``program`` and ``needs``, as `burnish.builds.evidence.Examiner.look` has them.
    """
    return ProgramExamined(
        build=build,
        key=key,
        tried=dict(tried),
        program=value_of(ProgramFacts, plain(facts["program"])),
        needs=value_of(InstructionNeeds, plain(facts["needs"])),
    )


def gate_findings(report: GateReport) -> GateFindings:
    """A gate's report, for the record."""
    return value_of(GateFindings, plain(asdict(report)))
