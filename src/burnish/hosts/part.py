"""A host's part of a study: says how it would build, makes builds for all, or measures. Runs where a worker runs.

The command of the study is read as if it were typed on the host, so it has the host's own record, sittings, calibration
and resuming. What a host has measured is in its own record before anyone else hears of it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from burnish.artefacts.packing import DamagedError
from burnish.base.errors import BusyError, InfrastructureError, UserError
from burnish.base.files import read_json, write_json
from burnish.base.paths import Home
from burnish.builds.evidence import Examiner, facts_key
from burnish.builds.sharing import kept_as
from burnish.hosts.dispatch import Work
from burnish.hosts.jobs import Answer, Job
from burnish.hosts.place import Rooms, folder
from burnish.hosts.shelf import Shelf
from burnish.hosts.units import Survey, Unit, entries_of, to_measure
from burnish.record import exchange
from burnish.record.record import Record
from burnish.record.store import Store
from burnish.study import needs, runner
from burnish.study import session as sessions
from burnish.study.builds.chains import chains_of
from burnish.study.builds.resolving import Chain
from burnish.study.builds.source import unpacked
from burnish.study.kept import runs as studies
from burnish.study.kept.machine import machine
from burnish.study.planning.study_plan import check_inputs, plan_of
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name, needed
from burnish.study.study import Study
from burnish.study.workshop.prepare import prepare
from burnish.study.workshop.workshop import Workshop
from burnish.toolchain.toolchains import find_toolchains

RECORD = "record.jsonl.xz"
ANSWER = "answer.json"
BEGUN = "begun.json"


class Finished(Exception):
    """The command's part is done; it has nothing more to do."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


@dataclass
class Current:
    """The job that this process does; None where commands run as typed."""

    job: Job | None = None
    console: Console | None = None


current = Current()


def take(home: Home, study: Study, options: Options, asked: Asked | None) -> None:
    """Does this host's part of a study, if this process does one; it does not return then.

    Raises:
        Finished: with the answer.
    """
    if current.job is None:
        return
    console = current.console or Console(stderr=True)
    part = Part(home, study, options, asked or Asked(), current.job, console)
    work: Mapping[Work, Callable[[], Answer]] = {
        Work.SURVEY: part.survey,
        Work.BUILD: part.build,
        Work.BENCH: part.bench,
    }
    raise Finished(work[current.job.work]())


@dataclass(frozen=True)
class Part:
    """A host's part of a study."""

    home: Home
    study: Study
    options: Options
    asked: Asked
    job: Job
    console: Console

    def survey(self) -> Answer:
        """How this host would make the study's builds."""
        study, options = self.study, self.study.options(self.options)
        selection = by_name(study, self.asked)
        if not study.variants:
            plan = plan_of(self.home, study, selection, options)
            return Answer(Survey(bench=plan.seconds))
        try:
            with studies.lock(self.home):
                needs.install_for(study, selection, options, None)
                check_inputs(self.home, study, options)
                source, _ = unpacked(self.home, study.engine, options, self._say)
                plan = plan_of(self.home, study, selection, options)
                chosen = [comparison for comparison in selection.chosen if comparison.reason is None]
                chains = chains_of(
                    study,
                    needed(study, chosen),
                    source_digest=source.digest,
                    home=self.home,
                    store=Store(self.home.store),
                )
        except BusyError:
            raise
        except UserError as error:
            return Answer(Survey(why_not=str(error)))
        return Answer(Survey(chains, plan.builds.expected, plan.seconds))

    def build(self) -> Answer:
        """Makes a unit of builds, and shares them."""
        unit, study, options = self.job.unit, self.study, self.study.options(self.options)
        assert unit is not None  # noqa: S101 - the task is about one
        shelf = self._shelf()
        assert shelf is not None  # noqa: S101 - without one no host builds for others
        rooms = Rooms(self.home.root)
        with studies.lock(self.home), machine(self.home, self._say):
            if all(shelf.shared(*entry) for entry in unit.stages):
                self._say("made already")
                return Answer(levels=levels_known(shelf, unit))
            for entry in unit.needs:
                if not shelf.fetch(*entry):
                    return Answer(
                        problem=f"{unit.name}: {entry[0]} {entry[1]} is not in the store of artefacts", again=True
                    )
            take_made(shelf, unit)
            selection = by_name(study, self.asked)
            check_inputs(rooms, study, options)
            plan = plan_of(rooms, study, selection, replace(options, budget=None))
            session = sessions.begin(
                rooms, study.engine, study.definition, options, self.console, runner.loads_of(study, plan), None
            )
            try:
                workshop = prepare(session, study, plan, plan.lines)
                levels = _make(workshop, unit.name, unit.keys)
            finally:
                sessions.leave(session)
            for kind, key in unit.stages:
                shelf.push(kind, key)
            for key in levels:  # so that a host which finds it made already can say what it needs
                if shelf.find("evidence", facts_key(key)) is not None:
                    shelf.push("evidence", facts_key(key))
        return Answer(levels=levels)

    def bench(self) -> Answer:
        """Measures; what was finished under this key already is the answer again."""
        place = self._place()
        known = read_json(place / ANSWER)
        if known:
            return Answer(record=(place / RECORD).read_bytes(), run=str(known["run"]))
        begun = read_json(place / BEGUN)
        if not begun:
            write_json(place / BEGUN, {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
        run = self._finished(str(begun["at"])) if begun else None
        if run is None:
            study = replace(self.study, foreign=self._fetched()) if self.job.chains else self.study
            if study.foreign and not find_toolchains():
                study = replace(study, layouts=0)  # other link orders take a linker
            options = replace(self.options, fresh=self.job.fresh and not (begun and self._is_begun(str(begun["at"]))))
            run = runner.run(self.home, study, options, self.console, None, self.asked)
        events = list(exchange.compact(exchange.study_events(run)))
        exchange.write(place / RECORD, events)
        finished = studies.is_finished(run)
        if finished:
            write_json(place / ANSWER, {"run": run.name})
        return Answer(record=(place / RECORD).read_bytes(), run=run.name, finished=finished)

    def _place(self) -> Path:
        place = folder(self.home) / "tasks" / self.job.key
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place

    def _is_begun(self, since: str) -> bool:
        """Whether this task has begun a run that is not finished: what came before it may have failed at first."""
        with studies.open_record(self.home, self.study.definition) as record:
            return record is not None and _is_since(record, since)

    def _finished(self, since: str) -> Path | None:
        """The study's finished run that was begun after this task: its answer was lost on the way."""
        run = studies.finished(self.home, self.study.definition)
        if run is None:
            return None
        with closing(Record(run)) as record:
            return run if _is_since(record, since) else None

    def _fetched(self) -> dict[str, Chain]:
        """The builds to measure, in this host's store; one that is not there has the reason.

        Raises:
            InfrastructureError: the baseline is not there.
        """
        shelf = self._shelf()
        chains = {}
        with studies.lock(self.home):
            for number, (name, chain) in enumerate(self.job.chains.items()):
                own = to_measure(chain)
                if own.missing is None:
                    absent = [key for kind, key in entries_of(own) if shelf is None or not shelf.fetch(kind, key)]
                    if absent:
                        own = replace(own, missing=f"{name}: {absent[0]} is not in the store of artefacts")
                if own.missing is not None and not number:
                    raise InfrastructureError(f"the baseline: {own.missing}: nothing can be compared with it")
                chains[name] = own
        return chains

    def _shelf(self) -> Shelf | None:
        if self.job.store is None:
            return None
        shelf = Shelf.open(self.home.store, self.job.store, self.job.limit)
        shelf.check_mounted()
        return shelf

    def _say(self, text: str) -> None:
        self.console.print(f"    {text}", markup=False, highlight=False, soft_wrap=True)


def levels_known(shelf: Shelf, unit: Unit) -> dict[str, str]:
    """By key, the levels that a unit's programs need, as far as whoever made them has shared it."""
    levels: dict[str, str] = {}
    for kind, key in unit.stages:
        if kind == "builds" and shelf.fetch("evidence", facts_key(key)):
            facts = shelf.find("evidence", facts_key(key))
            levels |= {key: _level_needed(facts.about)} if facts is not None else {}
    return levels


def take_made(shelf: Shelf, unit: Unit) -> None:
    """Takes the stages of a unit that another host has shared before it was lost: the rest is made from these."""
    for entry in unit.stages:
        if shelf.shared(*entry):
            with contextlib.suppress(DamagedError):  # it is removed there; this host makes it and shares its own
                shelf.fetch(*entry)


def _make(workshop: Workshop, name: str, keys: frozenset[str]) -> dict[str, str]:
    """Makes the stages with these keys; returns the levels that finished programs need, by their keys."""
    maker = workshop.maker
    assert maker is not None  # noqa: S101 - the study builds
    chain = workshop.chains[name]
    first = next(iter(workshop.chains.values()))
    if any(stage.key in keys and kept_as(stage) == "profiles" for stage in chain.stages):
        workshop.make_baseline()  # its tools make the data of the training
    for stage in chain.stages:
        if stage.key in keys:
            maker.make_up_to(stage, chain)
    if chain.final not in keys:
        return {}
    if chain is first:
        workshop.make_baseline()  # it is tested here before others wait for it
    entry = maker.store.find("builds", chain.final)
    assert entry is not None  # noqa: S101 - made just now
    examiner = Examiner(maker.engine, maker.store, maker.bench, maker.scratch)
    return {chain.final: _level_needed(examiner.look(maker.builder.built(name, entry)))}


def _level_needed(facts: Mapping[str, Any]) -> str:
    """The instruction-set level that a program needs, of the facts about it; '' if unknown."""
    return str(facts["needs"].get("level", ""))


def _is_since(record: Record, since: str) -> bool:
    """Whether a run was begun at this time (ISO 8601 UTC) or later."""
    first = next(record.every(), None)
    return first is not None and first.at >= since
