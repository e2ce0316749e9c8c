"""A study and its sessions: begun, resumed, finished; imported, merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.model.sittings import Schedule, Spread
from burnish.record.events.base import Event


@dataclass(frozen=True)
class StudyBegun(Event):
    """A study was begun: the first event of its record.

    Attributes:
        name: name of the study and of its folder.
        definition: what was requested, as plain values; it always has ``verb`` and ``engine``.
        digest: digest of the definition: an unfinished study with the same digest is resumed. '' in a record that
            cannot be resumed.
        burnish: version of Burnish that began it; '' if unknown.
    """

    name: str
    definition: Mapping[str, Any]
    digest: str = ""
    burnish: str = ""


@dataclass(frozen=True)
class Configured:
    """What a settings file (burnish.toml) gave to a call.

    Attributes:
        file: its path.
        sha256: digest of its content.
        options: the options and arguments that it gave, as typed on a command line.
    """

    file: str
    sha256: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """The call of a session; the same call resumes the study.

    Attributes:
        words: of the command line after the program's name, and what a settings file gave: they need no such file.
        folder: its working folder.
        schedule: in how many sittings the study is measured.
        configured: what of the words a settings file gave; None if it gave nothing.
    """

    words: tuple[str, ...]
    folder: str
    schedule: Schedule
    configured: Configured | None = None


@dataclass(frozen=True)
class SessionBegun(Event):
    """A session runs or resumes the study.

    Attributes:
        host: facts of the host (`burnish.bench.host.HostFacts`).
        resumed: whether the study was begun by an earlier session.
        call: how the session was called; None in older records.
        seed: of everything random in the study, the same in all its sessions; None in older records.
        used: seconds that the sessions before it used, up to their last sign of life; None in the first one, and in
            older records.
    """

    host: Mapping[str, Any]
    resumed: bool = False
    call: Call | None = None
    seed: int | None = None
    used: float | None = None


@dataclass(frozen=True)
class SpreadAssumed(Event):
    """How far ratios are taken to differ between sittings, for cells with fewer than three; a later one replaces it.

    Attributes:
        spread: of comparisons in which a side's build has a profile (PGO, BOLT) that the other's has not; in older
            records of all comparisons.
        alike: of duets whose sides have the same profile, or none; None in older records. Where nothing is known of a
            program, and of sides that take turns on a load that does not commit and of which none has a profile, the
            larger of these two is assumed.
        committing: where sides take turns on a load that commits and none is known to have a profile that the other has
            not; None in older records: there the shipped figure is assumed.
    """

    spread: Spread
    alike: Spread | None = None
    committing: Spread | None = None


@dataclass(frozen=True)
class StudyFinished(Event):
    """The study is finished and is never resumed."""


@dataclass(frozen=True)
class RecordImported(Event):
    """The record was made from an exported file; such a study is never resumed.

    Attributes:
        file: the file's name, without its folder.
    """

    file: str


@dataclass(frozen=True)
class PictureDrawn(Event):
    """A drawing that can't be made again from the record.

    Attributes:
        name: its file's name in the study's folder.
        svg: the drawing.
    """

    name: str
    svg: str


@dataclass(frozen=True)
class CommandRun(Event):
    """A program was run; a compact record leaves this out.

    Attributes:
        what: its purpose.
        argv: its command line.
        cwd: its working folder; None: that of Burnish.
        env: environment variables added to those of Burnish.
        seconds: wall time.
        user_seconds: CPU time in user mode, of all its processes.
        system_seconds: CPU time in the kernel, of all its processes.
        peak_rss_bytes: largest resident set of any one process.
        exit_code: its exit code; negative for a signal.
        timed_out: whether it was killed because it exceeded its time limit.
        log: its log file's name; None if it has none.
    """

    what: str
    argv: tuple[str, ...]
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    user_seconds: float = 0.0
    system_seconds: float = 0.0
    peak_rss_bytes: int = 0
    exit_code: int = 0
    timed_out: bool = False
    log: str | None = None


@dataclass(frozen=True)
class Origin:
    """Where an event of a merged record was measured.

    Attributes:
        host: the host's key, a digest of the facts that identify it.
        study: the study that measured it.
        start: for a start, its number in that study; None for any other event.
        label: the host's letter in reports; None in a record of one host, and for starts.
    """

    host: str
    study: str
    start: int | None = None
    label: str | None = None


@dataclass(frozen=True)
class MergedHost:
    """A host of a merged record.

    Attributes:
        label: its letter in reports.
        key: a digest of the facts that identify it.
        facts: its facts, as of the last session there.
        starts: number of starts finished there.
    """

    label: str
    key: str
    facts: Mapping[str, Any]
    starts: int


@dataclass(frozen=True)
class MergedStudy:
    """A study of a merged record, on one host.

    Attributes:
        study: its name.
        host: letter of the host.
        starts: number of its finished starts.
    """

    study: str
    host: str
    starts: int


@dataclass(frozen=True)
class RecordsMerged(Event):
    """The record was merged from several records of one plan.

    Attributes:
        hosts: where they were measured.
        studies: the merged studies.
    """

    hosts: tuple[MergedHost, ...]
    studies: tuple[MergedStudy, ...]
