"""What a study's record says, as values: rows for tables, sentences for people; a pure function of the events."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.base.errors import UserError
from burnish.record.record import Event
from burnish.report import evidence, outcome, patches, verdict
from burnish.report.bundled.table import StudyTable, study_table
from burnish.report.patches import Patched
from burnish.report.verdict import NO_EFFECT, RUNNING
from burnish.why.explanation import Explanation, explanation

_KEPT = ("effective", "record", "unrecorded", "costs", "cpu_seconds", "objects")
"""Of a build's description, what tells of its making."""


@dataclass(frozen=True)
class Row:
    """One cell of the study: a candidate on a workload.

    Attributes:
        candidate: the variant, or the program's name.
        workload: the load.
        verdict: faster, slower, equivalent, undecided or invalid; "no effect" when the code is the baseline's;
            "running" while it has none yet.
        capacity: ratio with interval (keys ratio, low, high, level), candidate over baseline, or None.
        throughput: likewise.
        starts: valid starts.
        invalid_starts: starts that were repeated.
        reason: the verdict's sentence.
        sides: medians of each side (throughput per second, server CPU seconds per transaction, latency …).
        unit: what is counted.
        design: how the sides shared the host.
        headline: what the verdict is about, ``capacity`` or ``throughput``.
        per_minute: whether transactions per minute and the mean response time are told.
        role: ``claim``, ``confirmation`` (the winner once more, on fresh starts) or ``canary``.
        together: where several cells are claimed together, p-values and interval that hold beside each other.
        sensitivity: what other ways of taking the middle say, each with its interval.
        invalid_pairs: pairs of valid starts that count for nothing.
        unsettled: starts whose rate never was steady.
        hosts: in a merged record, what each host says by itself (host, starts, interval); empty where there is one.
        hosts_differ: whether two of those intervals have nothing in common.
        alone: the verdict by itself, where correction for all comparisons has made another of it; else ''.
        within: of a difference that is proved, but proved to be within ±delta too, that delta; None of any other.
    """

    candidate: str
    workload: str
    verdict: str
    capacity: Mapping[str, float] | None
    throughput: Mapping[str, float] | None
    starts: int
    invalid_starts: int
    reason: str
    sides: Mapping[str, Any]
    unit: str
    design: str = "duet"
    headline: str = "capacity"
    role: str = "claim"
    per_minute: bool = False
    together: Mapping[str, Any] | None = None
    sensitivity: tuple[Mapping[str, Any], ...] = ()
    invalid_pairs: int = 0
    unsettled: int = 0
    hosts: tuple[Mapping[str, Any], ...] = ()
    hosts_differ: bool = False
    alone: str = ""
    within: float | None = None

    @property
    def ratio(self) -> Mapping[str, float] | None:
        """The headline's ratio with its interval."""
        return self.capacity if self.headline == "capacity" else self.throughput


@dataclass(frozen=True)
class Canary:
    """The baseline against itself on one workload, within the study.

    Attributes:
        workload: the load.
        ratios: of the starts' headline, one each; 1 but for noise.
        invalid: starts that counted for nothing.
    """

    workload: str
    ratios: tuple[float, ...]
    invalid: int


@dataclass(frozen=True)
class BuildRow:
    """What became of a variant.

    Attributes:
        variant: its name.
        reason: why it is in the catalogue.
        toolchain: compiler that made it.
        seconds: wall time of its last stage when it was built, or None.
        server_bytes: size of the measured program.
        gate: "passed 158 tests" or why not.
        failure: why it was not measured, or None.
        notes: cancelled flags, profile audit, differing features.
        identity: version and build id, or "".
        weakens_security: whether it trades safety for speed.
        changes_results: whether a query may give another result.
        narrows_portability: whether it runs on fewer machines.
        needs: what it needs to run, and on which processors it was seen to: the portability gate; or "-".
        same: whether it was not measured because its program is the baseline's.
        evidence: facts of its program (``program``, ``needs``, ``tried``), or None.
        built: whether it was built here; else it is a program, or a build under another condition.
        costs: facts of its making (``costs``, ``cpu_seconds``, ``effective``, ``record`` …).
    """

    variant: str
    reason: str
    toolchain: str
    seconds: float | None
    server_bytes: int | None
    gate: str
    failure: str | None
    notes: tuple[str, ...]
    identity: str
    weakens_security: bool
    changes_results: bool = False
    narrows_portability: bool = False
    needs: str = "-"
    same: bool = False
    evidence: Mapping[str, Any] | None = None
    built: bool = False
    costs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A study in values.

    Attributes:
        name: the study.
        verb: tune, compare, calibrate, why or patch.
        engine: engine's name.
        source: what was built, in words.
        digest: digest of the source.
        features: feature set.
        baseline: name of the side that ratios are against.
        host: one line.
        begun: when, ISO 8601 UTC.
        ended: when it finished, or None.
        definition: as asked.
        rows: cells in order.
        builds: variants in order.
        differences: what sets two compared programs apart.
        contest: rule, timing, design as recorded, or {}.
        runs: how often it was begun or gone on with.
        canaries: A/A starts mixed in, by workload.
        confirmations: the winner's cells on fresh starts, where it was picked from many.
        calibrations: what the host's A/A starts said (`calibrate`: what this study found).
        notes: on the source.
        replicates: builds of each variant, one for each start in turn; 0: each was built once.
        explanation: what a `why` says; None of other verbs, and of one that was not finished.
        patched: the series that a `patch` is about; None of other verbs.
        shipped: the table of a study that ships; None of other verbs.
        merged: of a record put together from several, its hosts and studies; None of any other.
        forced: calibrations of the host that had failed when verdicts were given all the same, by name.
    """

    name: str
    verb: str
    engine: str
    source: str
    digest: str
    features: str
    baseline: str
    host: str
    begun: str
    ended: str | None
    definition: Mapping[str, Any]
    rows: tuple[Row, ...]
    builds: tuple[BuildRow, ...]
    differences: tuple[str, ...]
    contest: Mapping[str, Any]
    runs: int
    canaries: tuple[Canary, ...] = ()
    confirmations: tuple[Row, ...] = ()
    calibrations: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = field(default=())
    replicates: int = 0
    explanation: Explanation | None = None
    patched: Patched | None = None
    shipped: StudyTable | None = None
    merged: Mapping[str, Any] | None = None
    forced: tuple[str, ...] = ()

    @property
    def nothing_measured(self) -> bool:
        """Whether it has finished without a valid verdict or a figure; the command then ends with 1."""
        return outcome.nothing_measured(self)


def fold(events: Iterable[Event]) -> Result:
    """Reads a record; works on an unfinished one too."""
    by: dict[str, list[Event]] = {}
    for event in events:
        by.setdefault(event.kind, []).append(event)
    if "study" not in by:
        raise UserError("this record holds no study: it was ended before it began; run the same command again")
    begun = by["study"][0]
    definition = begun.body["definition"]
    source = by["source"][-1].body if "source" in by else {}
    host = by["run"][-1].body["host"] if "run" in by else {}
    programs = [event.body["variant"] for event in by.get("program", ())]
    contest = by["contest"][-1].body if "contest" in by else {}
    shipped = study_table(by)
    named = (event.body["variant"] for kind in ("build", "variant") for event in by.get(kind, ()))
    mine = list(dict.fromkeys(named)) if shipped else []
    order = [*mine, *programs] or list(definition["variants"])
    finished = by.get("finished")
    merged = by["merged"][-1].body if "merged" in by else None
    return Result(
        name=begun.body["name"],
        verb=definition["verb"],
        engine=definition["engine"],
        source=source.get("origin", "existing server programs"),
        digest=source.get("digest", ""),
        features=definition["features"],
        baseline=order[0],
        host=hosts_line(merged) if merged else host_line(host),
        begun=begun.at,
        ended=finished[-1].at if finished else None,
        definition=definition,
        rows=tuple(_rows(by, contest)),
        builds=tuple(_builds(by, order)),
        differences=tuple(by["difference"][-1].body["found"]) if "difference" in by else (),
        contest=contest,
        runs=len(by.get("run", ())),
        canaries=tuple(_canaries(by, contest)),
        confirmations=tuple(
            _row(e.body, None, contest) for e in by.get("verdict", ()) if e.body.get("role") == "confirmation"
        ),
        calibrations=_calibrations(by) or tuple(contest.get("calibrations", ())),
        notes=(source["note"],) if source.get("note") else (),
        explanation=explanation(by),
        patched=patches.patched(by),
        shipped=shipped,
        merged=merged,
        forced=tuple(dict.fromkeys(name for event in by.get("contest", ()) for name in event.body.get("forced", ()))),
        replicates=len(contest.get("replicates", {}).get(order[0], ())),
    )


def host_line(host: Mapping[str, Any]) -> str:
    """The host in one line: processor, cores, memory, kernel, hypervisor."""
    if not host:
        return "unknown host"
    memory = f"{host['memory_bytes'] / 2**30:.0f} GiB" if host.get("memory_bytes") else "unknown memory"
    signature = f" (family/model/stepping {host['cpu_signature']})" if "cpu_signature" in host else ""
    parts = [
        f"{host['cpu_model']}{signature}",
        f"{len(host['cores_allowed'])} cores",
        memory,
        f"Linux {host['kernel']}",
        str(host["distribution"]),
        f"hypervisor {host['hypervisor']}",
        f"THP {host['thp']}",
    ]
    return ", ".join(parts)


def hosts_line(merged: Mapping[str, Any]) -> str:
    """The hosts of a merged record, each with the letter that it has in the report."""
    return "; ".join(f"{each['label']}: {host_line(each['facts'])}" for each in merged["hosts"])


def _rows(by: Mapping[str, Sequence[Event]], contest: Mapping[str, Any]) -> list[Row]:
    verdicts = {event.body["cell"]: event.body for event in by.get("verdict", ())}
    family = by["family"][-1].body["cells"] if "family" in by else {}
    rows = []
    for cell in contest.get("cells", ()):
        body = verdicts.get(cell)
        if body is not None and body.get("role", "claim") == "confirmation":
            continue
        if body is not None:
            rows.append(_row(body, family.get(cell), contest))
            continue
        candidate, _, workload = cell.rpartition(" / ")
        done = [e for e in by.get("start_done", ()) if e.body["cell"] == cell and e.body["invalid"] is None]
        rows.append(Row(candidate, workload, RUNNING, None, None, len(done), 0, "not decided yet", {}, ""))
    loads = by["study"][0].body["definition"].get("workloads", ())
    equal = [event.body["variant"] for event in by.get("variant", ()) if event.body.get("same")]
    rows += [
        Row(name, load, NO_EFFECT, None, None, 0, 0, "no effect: identical code", {}, "")
        for load in loads
        for name in dict.fromkeys(equal)
    ]
    return rows


def _row(body: Mapping[str, Any], together: Mapping[str, Any] | None, contest: Mapping[str, Any]) -> Row:
    return Row(
        candidate=body["candidate"],
        workload=body["workload"],
        verdict=together["verdict"] if together else body["verdict"],
        capacity=body["capacity"],
        throughput=body["throughput"],
        starts=body["starts"],
        invalid_starts=body["invalid_starts"],
        reason=body["reason"],
        sides=body["sides"],
        unit=body["unit"],
        design=body.get("design", "duet"),
        headline=body.get("headline", "capacity"),
        role=body.get("role", "claim"),
        per_minute=body.get("per_minute", False),
        together=together,
        sensitivity=tuple(body.get("sensitivity", ())),
        invalid_pairs=body.get("invalid_pairs", 0),
        unsettled=body.get("unsettled", 0),
        hosts=tuple(body.get("hosts", ())),
        hosts_differ=body.get("hosts_differ", False),
        alone=body["verdict"] if together and together["verdict"] != body["verdict"] else "",
        within=verdict.within(body, contest),
    )


def _calibrations(by: Mapping[str, Sequence[Event]]) -> tuple[Mapping[str, Any], ...]:
    """The last one of each workload and design: a study that was gone on with says them again."""
    every = [event.body["calibration"] for event in by.get("calibration", ())]
    return tuple({(each["workload"], each["design"]): each for each in every}.values())


def _canaries(by: Mapping[str, Sequence[Event]], contest: Mapping[str, Any]) -> list[Canary]:
    found = []
    for workload, headline in contest.get("headlines", {}).items():
        done = [e.body for e in by.get("start_done", ()) if e.body["cell"] == f"A/A / {workload}"]
        good = [body for body in done if body["invalid"] is None]
        if done:
            ratios = tuple(math.exp(body[headline]) for body in good)
            found.append(Canary(workload, ratios, len(done) - len(good)))
    return found


def _builds(by: Mapping[str, Sequence[Event]], order: Sequence[str]) -> list[BuildRow]:
    builds = {event.body["variant"]: event.body for event in by.get("build", ())}
    gates = {event.body["variant"]: event.body["report"] for event in by.get("gate", ())}
    variants = {event.body["variant"]: event.body for event in by.get("variant", ())}
    missing = _missing(by)
    programs = {event.body["variant"]: event.body for event in by.get("program", ())}
    looked = {event.body["variant"]: event.body for event in by.get("evidence", ())}
    changed = {event.body["variant"]: event.body for event in by.get("changed", ())}
    rows = []
    for name in order:
        first = f"{name}#1"  # of a variant's replicates
        build = builds.get(name) or builds.get(first) or {}
        about: Mapping[str, Any] = build.get("about", {})
        facts = variants.get(name, {})
        seen = looked.get(name) or looked.get(first)
        identity = (programs.get(name) or build).get("identity") or {}
        notes = list(facts.get("notes", ()))
        if name in changed:
            notes.append(f"machine code: {evidence.changed(changed[name])}")
        if about.get("audit"):
            notes.append(f"profile: {about['audit']}")
        rows.append(
            BuildRow(
                variant=name,
                reason=facts.get("reason", ""),
                toolchain=" + ".join(filter(None, _made_with(about))),
                seconds=about.get("seconds"),
                server_bytes=about.get("server_bytes"),
                gate=_gate_words(gates.get(name) or gates.get(first), same=bool(facts.get("same")))
                if name not in programs
                else "not built here",
                failure=facts.get("failure") or missing.get(name) or missing.get(first),
                notes=tuple(notes),
                identity=f"{identity.get('version', '')} {identity.get('build_id', '')[:12]}".strip(),
                weakens_security=bool(facts.get("weakens_security")),
                changes_results=bool(facts.get("changes_results")),
                narrows_portability=bool(facts.get("narrows_portability")),
                needs=_needs_words(seen),
                same=bool(facts.get("same")),
                evidence=seen,
                built=bool(build) and name not in programs,
                costs={key: about[key] for key in _KEPT if key in about},
            )
        )
    return rows


def _missing(by: Mapping[str, Sequence[Event]]) -> dict[str, str]:
    """Why variants could not be built; what any sitting or machine of the record has built is not missing."""
    built = {event.body["variant"] for event in by.get("build", ())}
    missing = {event.body["variant"]: event.body["why"] for event in by.get("variant_missing", ())}
    return {name: why for name, why in missing.items() if name not in built}


def _made_with(about: Mapping[str, Any]) -> tuple[str, ...]:
    """Compiler, post-link tool, and how many patches the source has."""
    patches = len(about.get("patches", ()))
    counted = f"{patches} patch{'es' if patches > 1 else ''}" if patches else ""
    return about.get("toolchain", ""), "BOLT" if about.get("bolt") else "", counted


def _needs_words(looked: Mapping[str, Any] | None) -> str:
    words = [evidence.needs(looked), evidence.tried(looked.get("tried", {})) if looked else ""]
    return "; ".join(filter(None, words))


def _gate_words(report: Mapping[str, Any] | None, *, same: bool = False) -> str:
    if same:
        return "no effect: identical code"
    if report is None:
        return "not tested"
    if report["passed"]:
        skipped = f", {report['skipped']} skipped" if report["skipped"] else ""
        away = f", {len(report['left_out'])} left out" if report.get("left_out") else ""
        return f"passed {report['tests']}{skipped}{away}"
    return "failed: " + ", ".join(test for test, _ in report["failures"][:3])
