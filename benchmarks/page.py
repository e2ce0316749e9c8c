"""How long a page of a large study takes, how much memory, and how soon a browser shows it.

    python benchmarks/page.py [VARIANTS LOADS STARTS]

Makes a record of a study by hand, 60 variants on 12 loads with 20 starts each unless told otherwise, and calls
`burnish report` on it in a process of its own. With chromium and playwright here, opens the page and reads when the
browser first painted it. Prints a Markdown table; nothing is asserted.

On 2026-11-26, two cores of a virtual Intel Xeon, Debian 12, Python 3.11.7, byte code kept, while other builds and tests
had the load average at 40, so that wall time says nothing and CPU time is more than on a quiet host:

| variants x loads x starts | seconds | CPU seconds | peak MB | page MB | first paint |
| --- | --- | --- | --- | --- | --- |
| 60 x 12 x 20 | 27.1 | 7.1 | 263 | 5.0 | 280 ms, complete after 4185 ms |

Of these 0.6 s are modules, 1.3 s reading, 1.4 s the statistics, 1.0 s matplotlib's modules, 2.1 s figures and text,
0.5 s packing. In turns with this it took 8.0 s before a call imported its own verb alone and turns were decoded at
once; that version had taken 5.8 s of wall time at a load average of 2.

Without turns, and with a plot's dots in a few elements: 4.9 to 5.2 s of CPU, 257 MB, a page of 4.1 MB, at a load
average of 14 to 18, where the version before took 6.5 to 7.6 s. With all other work stopped, in a bad hour of that
host's processor: 6.3 to 11.4 s.

With figures drawn by a process beside, all other work stopped, 18:44 UTC, three calls:

| 60 x 12 x 20 | 4.6 | 5.5 | 243 | 4.1 | 156 ms, complete after 673 ms |
| 60 x 12 x 20 | 4.3 | 5.2 | 243 | 4.1 | 160 ms, complete after 681 ms |
| 60 x 12 x 20 | 4.5 | 5.3 | 243 | 4.1 | 180 ms, complete after 655 ms |

The peak is that of the larger process; both together had 305 MB, by their proportional shares.
"""

from __future__ import annotations

import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

from burnish.model.cell import AA, BuildId, CellId, Role
from burnish.record import exchange
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import BuildMade, GateFindings, GateRun, SourceObtained, VariantSettled
from burnish.record.events.study import SessionBegun, StudyBegun, StudyFinished
from burnish.record.events.trials import PairRead, ServerUsage, SideReading, StartDone, StoppingRule, TrialsPlanned
from burnish.record.events.verdicts import FamilyJudged, FamilyMember, Interval, SideSummary, VerdictReached

HOST = {
    "cpu_model": "a processor", "cores_allowed": [0, 1], "memory_bytes": 2**34, "kernel": "6.1", "hypervisor": "none",
    "distribution": "Debian", "thp": "madvise",
}  # fmt: skip
BASE = "baseline"


def events(variants: int, loads: int, starts: int) -> Iterator[Event]:
    """A whole study as `tune` records it, with one pair of twenty turns in each start."""
    chance = random.Random(1)
    names = [BASE, *(f"variant-{number:02}-with-a-name" for number in range(variants))]
    work = [f"load_{number:02}" for number in range(loads)]
    definition = {"verb": "tune", "engine": "fake", "variants": names, "workloads": work, "features": "core"}
    yield StudyBegun("large", definition)
    yield SessionBegun(HOST)
    yield SourceObtained("fake", "1.0", "0" * 64, "made by hand")
    for name in names:
        yield BuildMade(BuildId(name), name, {"toolchain": "gcc-12", "seconds": 60.0, "server_bytes": 10**7})
        yield GateRun(BuildId(name), name, False, GateFindings(True, 200, 0))
        yield VariantSettled(name, "a reason")
    cells = [CellId(name, load) for name in names[1:] for load in work]
    yield TrialsPlanned(
        tuple(cells), StoppingRule(starts), ((0,), (1,)), dict.fromkeys(work, "duet"), dict.fromkeys(work, "capacity")
    )
    canaries = [CellId(AA, load, Role.CANARY) for load in work]
    for cell in (*canaries, *cells):
        gain = 0.0 if cell.is_canary else chance.gauss(0.05, 0.05)
        logs = [chance.gauss(gain, 0.01) for _ in range(starts)]
        for number, log in enumerate(logs, 1):
            done = StartDone(cell, number, None, True, 20.0, "d", {"capacity": log, "throughput": log / 2}, pairs=1)
            sides = {name: SideReading(2.0, 4e3, 0, 1.9, 0.8, {"p95": 5e-3}) for name in (BASE, cell.candidate)}
            turns = {name: tuple((0.1, round(chance.gauss(200, 5)), 0.1, 0.04) for _ in range(20)) for name in sides}
            usage = {name: ServerUsage(1.4, 0.5) for name in sides}
            yield PairRead(cell, number, 1, sides, turns, 2, usage)
            yield done
        if not cell.is_canary:
            yield _verdict(cell, logs)
    yield FamilyJudged(False, tuple(FamilyMember(cell, "undecided", 1.0, 1.0, 1.0, "") for cell in cells))
    yield StudyFinished()


def _verdict(cell: CellId, logs: list[float]) -> VerdictReached:
    middle = sum(logs) / len(logs)
    half = 2.1 * 0.01 / math.sqrt(len(logs))
    ratio = Interval(math.exp(middle), math.exp(middle - half), math.exp(middle + half), 0.95)
    kind = "faster" if middle > half else "slower" if middle < -half else "undecided"
    side = SideSummary(2000.0, 5e-4, 2e-4, 0.3, {"p95": 5e-3})
    ratios = dict.fromkeys(("capacity", "throughput"), ratio)
    sides = {BASE: side, cell.candidate: side}
    why = f"{kind}: made by hand"
    return VerdictReached(cell, "duet", "capacity", "transaction", kind, why, ratios, len(logs), sides=sides)


def painted(page: Path) -> str:
    """When the browser first painted the page, in ms after it was opened."""
    program = shutil.which("chromium")
    if program is None:
        return "no chromium here"
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - for this part alone

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        shown = browser.new_page()
        shown.goto(page.as_uri())
        paint = shown.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        loaded = shown.evaluate("performance.getEntriesByType('navigation')[0].domComplete")
        browser.close()
    return f"{paint:.0f} ms, complete after {loaded:.0f} ms"


def write(record: Path, variants: int, loads: int, starts: int) -> None:
    """Writes the record."""
    made = (Recorded(n, "2026-01-01T00:00:00Z", event) for n, event in enumerate(events(variants, loads, starts), 1))
    exchange.write(record, made)


def main(variants: int, loads: int, starts: int) -> None:
    """Prints what it took."""
    with tempfile.TemporaryDirectory() as folder:
        record, page = Path(folder) / "large.jsonl.gz", Path(folder) / "large.html"
        # In a process of its own: what this one has in memory would count as its child's until that is loaded.
        writing = get_context("spawn").Process(target=write, args=(record, variants, loads, starts))
        writing.start()
        writing.join()
        argv = [sys.executable, "-m", "burnish", "report", str(record), "-o", str(page)]
        environment = os.environ | {"BURNISH_HOME": folder}
        if environment.pop("PYTHONDONTWRITEBYTECODE", ""):  # as ./burnish has it: modules are not compiled in each call
            environment.setdefault("PYTHONPYCACHEPREFIX", f"{sys.prefix}/pycache")
        subprocess.run(argv, env=environment, check=True)
        before = time.monotonic()
        process = subprocess.Popen(argv, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - before
        if process.returncode:
            raise SystemExit(process.returncode)
        memory, cpu = used.ru_maxrss / 1e3, used.ru_utime + used.ru_stime
        size = page.stat().st_size / 1e6
        print("| variants x loads x starts | seconds | CPU seconds | peak MB | page MB | first paint |")
        print("| --- | --- | --- | --- | --- | --- |")
        what = f"{variants} x {loads} x {starts}"
        print(f"| {what} | {seconds:.1f} | {cpu:.1f} | {memory:.0f} | {size:.1f} | {painted(page)} |")


if __name__ == "__main__":
    main(*(map(int, sys.argv[1:4]) if len(sys.argv) > 3 else (60, 12, 20)))
