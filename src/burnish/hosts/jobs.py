"""What is asked of a host, and what it answers: values that travel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.hosts.carried import Carried
from burnish.hosts.dispatch import Work
from burnish.hosts.units import Survey, Unit
from burnish.study.builds.resolving import Chain


@dataclass(frozen=True)
class Job:
    """One task as it is sent to a host.

    Attributes:
        key: its identity, which the host knows it by again.
        work: what kind it is.
        title: what it is, for people.
        command: the command of the study, which the host reads as if it were typed there, with its files.
        store: where artefacts are shared, unless the host was told otherwise; None: nowhere.
        limit: bytes that they may take there.
        unit: what is to be built.
        chains: builds to measure that are taken from the store, by name; empty: the host makes its own.
        fresh: whether a new run is begun when the host hears of the task first.
    """

    key: str
    work: Work
    title: str
    command: Carried
    store: str | None = None
    limit: int | None = None
    unit: Unit | None = None
    chains: Mapping[str, Chain] = field(default_factory=dict)
    fresh: bool = False


@dataclass(frozen=True)
class Answer:
    """What a host answers.

    Attributes:
        survey: how it would build.
        levels: of programs that it made, by key: the instruction-set level that each needs.
        record: the run's exported record, packed.
        run: the run's name on the host.
        finished: whether the run is finished.
        problem: why the task failed, in words; '' if it did not.
        again: whether it may be tried again: what failed was not the task itself.
        busy: whether that was because somebody else works on the machine, which may take long.
    """

    survey: Survey | None = None
    levels: Mapping[str, str] = field(default_factory=dict)
    record: bytes = b""
    run: str = ""
    finished: bool = True
    problem: str = ""
    again: bool = False
    busy: bool = False
