"""The gate: a list of PostgreSQL's own regression tests (`make check`), against the very server that is measured."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from burnish.base.errors import InfrastructureError
from burnish.base.workbench import Workbench
from burnish.engines.contract import MARKER, GateReport
from burnish.engines.postgresql.build import REGRESS
from burnish.engines.postgresql.server import CLUSTER, DATABASE, Server
from burnish.engines.shared import unprivileged
from burnish.engines.shared.server_process import Launch
from burnish.program.built import Built
from burnish.program.elf import build_id

_LIMIT_S = 1800.0

# Until 15: "     boolean    ... ok     30 ms"; since 16: "ok 3     + boolean    30 ms".
_RESULT = re.compile(r"(?:test\s+)?([\w.]+)\s+\.\.\. (ok|FAILED)|(ok|not ok) \d+\s+[-+] ([\w.]+)")


def initdb(folder: Path, cluster: Path, bench: Workbench, *words: str, launcher: Sequence[str] = ()) -> None:
    """Makes a cluster with the initdb of a folder, which runs the postgres beside it; whoever reaches it is trusted.

    Raises:
        InfrastructureError: it failed, with its log.
    """
    how = ["-U", DATABASE, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-D", str(cluster)]
    command: list[str | Path] = [*unprivileged.words(), *launcher, folder / "initdb", *how, *words]
    done = bench.run("initdb", command, cwd=cluster.parent, timeout=600)
    done.check("making the server's first files")


def gate(wanted: Sequence[str], subject: Built, tools: Built, place: Path, bench: Workbench) -> GateReport:
    """Runs those of the wanted tests that this version has, in the order and the groups of its own schedule."""
    began, tests = time.monotonic(), tools.folder / REGRESS
    ordered = groups((tests / "parallel_schedule").read_text(), wanted)
    if not ordered:
        raise InfrastructureError(f"{tests}/parallel_schedule: none of the gate's tests is in it")
    schedule, output = place / "schedule", place / "output"
    schedule.write_text("".join(f"test: {' '.join(names)}\n" for names in ordered))
    (output / "testtablespace").mkdir(mode=0o700, parents=True)  # until 14 regress/GNUmakefile makes it
    (place / MARKER).touch()
    initdb(subject.server.parent, place / CLUSTER, bench, "--no-sync")
    (folder := place / "server").mkdir(mode=0o700)
    settings = (("fsync", "off"), ("max_prepared_transactions", "2"))
    server = Server(Launch(subject.server.resolve(), place, folder, settings, environment=subject.environment))
    lines: list[str] = []
    try:
        server.boot()
        how = [f"--host={server.socket.parent}", "--port=5432", f"--user={DATABASE}", "--no-locale", "--encoding=UTF8"]
        files = [f"--inputdir={tests}", f"--dlpath={tests}", f"--outputdir={output}", f"--schedule={schedule}"]
        words = [*unprivileged.words(), str(tests / "pg_regress"), *how, *files, f"--bindir={tools.folder / 'bin'}"]
        own, see = {"LD_LIBRARY_PATH": str(tools.folder / "lib")}, partial(_see, lines=lines, bench=bench)
        bench.run("regression tests", words, cwd=output, env=own, timeout=_LIMIT_S, on_line=see)
    finally:
        server.stop()
    said, listed = results(lines), [name for names in ordered for name in names]
    if not said:
        raise InfrastructureError(f"pg_regress ran no test: {' '.join(lines[-3:])}", log=server.log)
    failures = tuple(
        (name, why)
        for name in (one for one in listed if not said.get(one, False))
        if (why := _difference(output / "results" / f"{name}.out", (output / "expected", tests / "expected")))
    )
    seconds, skipped = time.monotonic() - began, len(wanted) - len(listed)
    return GateReport(not failures, len(listed), skipped, failures, build_id(subject.server), seconds)


def groups(schedule: str, wanted: Sequence[str]) -> list[list[str]]:
    """The schedule's groups with the wanted tests alone; the tests of a group run at the same time."""
    lines = [line.removeprefix("test:").split() for line in schedule.splitlines() if line.startswith("test:")]
    kept = [[name for name in names if name in set(wanted)] for names in lines]
    return [names for names in kept if names]


def results(lines: Sequence[str]) -> dict[str, bool]:
    """Whether each test passed, as pg_regress says it."""
    return {match[1] or match[4]: "ok" in (match[2], match[3]) for match in map(_RESULT.search, lines) if match}


def _see(line: str, lines: list[str], bench: Workbench) -> None:
    lines.append(line)
    if match := _RESULT.search(line):
        bench.live(f"test {match[1] or match[4]}")


def _difference(result: Path, expected: Sequence[Path]) -> str:
    """The first line that is not as expected, of files that pg_regress may make until 14; '' if only zones moved."""
    file = next((folder / result.name for folder in expected if (folder / result.name).is_file()), None)
    if file is None or not result.is_file():
        return "failed, and its expected output is not kept" if result.is_file() else "did not run"
    text, due = (path.read_text(encoding="utf-8", errors="replace") for path in (result, file))
    if text == due.replace("Wed Dec 09 15:56:00 1846", "Wed Dec 09 15:56:08 1846") != due:  # Manila's zone, since 2024b
        return ""
    right = due.splitlines()
    for number, line in enumerate(text.splitlines()):
        if number >= len(right) or line != right[number]:
            return f"line {number + 1} is {line.strip()[:100]!r}"
    return "ends too early"
