"""Which build is packaged, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from burnish.base.errors import UserError, unknown
from burnish.base.files import sha256_of
from burnish.base.paths import Home
from burnish.builds import witness
from burnish.builds.after_link import preload
from burnish.builds.reproducer import Making
from burnish.catalogue import load
from burnish.engines.contract import Engine
from burnish.engines.registry import create
from burnish.packages.control import one_line
from burnish.program.built import Built
from burnish.record.events.builds import BuildMade
from burnish.record.record import Record
from burnish.report.analysis import marks
from burnish.report.analysis.taken import taken
from burnish.report.result import BuildRow, Result, Row
from burnish.report.words import interval
from burnish.study.kept import reproducing
from burnish.study.kept.reproducing import FoundBuild


@dataclass(frozen=True)
class Chosen:
    """A build that is to be packaged, with the run that judged it.

    Attributes:
        result: the run.
        variant: the variant's name.
        row: its outcome in the run.
        found: the build in the store.
        engine: its engine.
        built: the build as a value.
        making: how it was made.
        objections: why it is not packaged without being forced, a sentence each.
    """

    result: Result
    variant: str
    row: BuildRow
    found: FoundBuild
    engine: Engine
    built: Built
    making: Making
    objections: tuple[str, ...]

    @property
    def program(self) -> Path:
        """The measured program."""
        return self.built.server

    @property
    def verdicts(self) -> tuple[Row, ...]:
        """Its cells whose figures are to be quoted, as in reports: fresh starts of all its loads, or none of them."""
        return to_quote(self.result, self.variant)

    @property
    def gain(self) -> str:
        """What it gives, in a line: a ratio with its interval for each load."""
        parts = [
            f"{row.headline} {interval(row.ratio)} on {row.workload}" if row.ratio else f"{row.workload}: {row.verdict}"
            for row in self.verdicts
        ]
        return one_line(f"{', '.join(parts)}, to {self.result.baseline}" if parts else "not measured", 400)


def choose(home: Home, folder: Path, result: Result, variant: str | None) -> Chosen:
    """The build of a variant in a run; without a name, that of the run's recommended variant.

    Raises:
        UserError: the run recommends none, the name is none of its variants, its build is gone or is not the program
            that was measured, or it is not a program alone.
    """
    rows = {row.variant: row for row in result.builds if row.built}
    name = variant or taken(result)
    if name is None:
        why = f"no variant is faster than {result.baseline} on every load, so none is recommended"
        if result.shipped is not None or result.patched is not None:
            why = "its report recommends no single build"
        raise UserError(f"{result.name}: {why}; name one with --variant: {', '.join(rows) or 'it has no build'}")
    if name not in rows:
        raise unknown("variant", name, rows)
    found = reproducing.find(home, name, str(folder))
    engine = create(load.engine(str(found.entry.about["engine"])))
    built = engine.built(found.entry.key, found.entry.folder, found.entry.key)
    making = witness.read(found.entry.about)
    if making is None:
        raise UserError(f"{name}: made by a Burnish that did not yet record how; {found.made_anew}")
    if preload.environment(found.entry):
        raise UserError(
            f"{name}: it was measured with a preloaded library, which is no part of the program; choose a variant "
            "without one"
        )
    if sha256_of(built.server) != making.sha256:
        raise UserError(f"{built.server}: not the program that was measured (its SHA-256 differs); build it again")
    measured = _measured(folder, found.entry.key)
    if measured and making.sha256 not in measured:
        raise UserError(
            f"{name}: the store has another program than {result.name} measured: it was built again since, by another "
            f"profile; take a later run (`burnish runs`), or measure it: the command of {result.name} with --fresh"
        )
    return Chosen(result, name, rows[name], found, engine, built, making, objections(rows[name]))


def _measured(folder: Path, key: str) -> set[str]:
    """SHA-256 of the programs that a run had of a build, by its record; older records say none."""
    with closing(Record(folder)) as record:
        made = (recorded.event for recorded in record.events(BuildMade) if recorded.event.key == key)
        return {str(event.about["sha256"]) for event in made if event.about.get("sha256")}


def to_quote(result: Result, variant: str) -> tuple[Row, ...]:
    """A variant's cells; its fresh starts where there are some of every load, and what they came to is known.

    Figures of two placements, or of starts by which it was picked and of starts after that, are not to be mixed.
    """
    claims = tuple(row for row in result.rows if row.candidate == variant)
    again = tuple(row for row in result.confirmations if row.candidate == variant and row.ratio)
    return again if {row.workload for row in claims} <= {row.workload for row in again} else claims


def objections(row: BuildRow) -> tuple[str, ...]:
    """Why a build is not packaged unless forced."""
    found = []
    if row.gate.startswith("failed"):
        found.append(f"its gate {row.gate}")
    elif row.failure:
        found.append(f"it was not measured: {row.failure}")
    elif not row.gate.startswith("passed"):
        found.append(f"its gate: {row.gate}")
    found += [f"it {word}" for word in marks.withheld(marks.of_build(row))]
    return tuple(one_line(text) for text in found)


def check(objected: Sequence[str], variant: str, *, force: bool) -> None:
    """Raises a `UserError` for the objections unless they are overruled."""
    if objected and not force:
        raise UserError(
            f"{one_line(variant)}: not packaged: {'; '.join(objected)}; choose another, or --force, which marks "
            "it in version, description and provenance"
        )
