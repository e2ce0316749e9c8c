"""Faults that come once: a second run at once, a clock that is set back, a read-only store, too little memory."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from asked import words_of
from driving import Ended, Place, call, marked
from kills import after, killed_at, undisturbed
from ledger import Case, Ledger
from outcome import outcome
from store import whole_outcome

_CLOCK = Path(__file__).with_name("clock.c")
_CGROUPS = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
_MIB = 1 << 20
_MOMENT_S = 3.0


def disturb(ledger: Ledger, place: Path, seed: int, points: int, names: Sequence[str]) -> None:
    """Each of the faults, on each kind of study."""
    cases = [(fault, name) for fault in FAULTS for name in names]
    for fault, name in cases[:points]:
        called = f"{seed}-{fault}-{name}"
        if ledger.has("others", called):
            continue
        whole, where, began = undisturbed(place, name), Place(place / name), time.monotonic()
        where.empty()
        notes: list[str] = []
        problems = FAULTS[fault](where, words_of(name, where.root / "files"), whole, notes)
        spent = round(time.monotonic() - began, 1)
        ledger.add(Case("others", called, name, fault, tuple(problems), notes=tuple(notes), seconds=spent))


def _ended_well(where: Place, ended: Ended, whole: Mapping[str, object]) -> list[str]:
    if ended.code or ended.traceback:
        return [f"ended with {ended.code}: {ended.last[-400:]}"]
    return after(where, dict(whole))


def _two_at_once(where: Place, words: list[str], whole: Mapping[str, object], notes: list[str]) -> list[str]:
    """Begun at one moment, one is refused in one line, and the other does not notice."""
    env = {**os.environ, "BURNISH_HOME": str(where.home), "TMPDIR": str(where.temporary), "COLUMNS": "200"}
    argv = [sys.executable, "-m", "burnish", *words]
    with (where.root / "first").open("w+") as said:
        first = subprocess.Popen(argv, stdout=said, stderr=said, stdin=subprocess.DEVNULL, env=env)
        second = call(where, words)
        code = first.wait()
        said.seek(0)
        words_of_both = said.read() + second.err
    problems = []
    if sorted((code, second.code)) != [0, 2] or "is running in this home" not in words_of_both:
        problems.append(f"they ended with {code} and {second.code}: {words_of_both[-300:]}")
    if "Traceback" in words_of_both:
        problems.append("a traceback")
    notes.append(f"exit codes {code} and {second.code}")
    return problems + after(where, dict(whole))


def _clock_set_back(where: Place, words: list[str], whole: Mapping[str, object], _notes: list[str]) -> list[str]:
    """Begun today, set back by a day in the middle, killed, resumed a year ago."""
    library, offset = where.root / "clock.so", where.root / "offset"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, _CLOCK], check=True)

    def turn(days: int) -> None:
        with offset.open("r+b" if offset.exists() else "wb") as file:  # in place: it is mapped
            file.write(struct.pack("q", days * 86400))

    def turn_back() -> None:
        """As soon as the study has been at work for a moment."""
        while not list(where.home.glob("studies/*/record.sqlite")) and not ended.is_set():
            time.sleep(0.02)
        ended.wait(_MOMENT_S)
        turn(-1)

    turn(0)
    ended = threading.Event()
    setter = threading.Thread(target=turn_back)
    setter.start()
    faked = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(offset)}
    first = call(where, words, environment={**faked, **killed_at(whole, 2 / 3)})
    ended.set()
    setter.join()
    problems = [] if first.code == -9 else [f"not killed, ended with {first.code}: {first.last[-300:]}"]
    turn(-365)
    return problems + _ended_well(where, call(where, words, environment=faked), whole)


def _read_only(where: Place, words: list[str], whole: Mapping[str, object], notes: list[str]) -> list[str]:
    """A home that became read-only while it was used: one line; afterwards it goes on."""
    first = call(where, words, environment=killed_at(whole, 1 / 4))  # before everything is built
    problems = [] if first.code == -9 else [f"not killed, ended with {first.code}: {first.last[-300:]}"]
    for folder, exits in ((where.home / "store", 1), (where.home, 2)):
        subprocess.run(["mount", "--bind", folder, folder], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        try:
            ended = call(where, words)
            looked = call(where, ["runs"])
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
        notes.append(f"{folder.name}: {ended.last[-160:]}")
        if ended.code != exits or ended.traceback or "ead-only" not in ended.last + "ead-only" * (exits == 2):
            problems.append(f"{folder.name} read-only: ended with {ended.code}: {ended.last[-300:]}")
        if looked.traceback:
            problems.append(f"{folder.name} read-only: `runs` ended with a traceback")
        if ended.code == 0:  # nothing was left to be written there; the same command would begin another run
            return problems + after(where, dict(whole))
    return problems + _ended_well(where, call(where, words), whole)


def _short_of_memory(where: Place, words: list[str], whole: Mapping[str, object], notes: list[str]) -> list[str]:
    """So little memory that programs are killed for it; then enough."""
    group = next((folder / f"burnish-faults-{os.getpid()}" for folder in _CGROUPS if os.access(folder, os.W_OK)), None)
    problems = []
    for mib in (96, 40):
        prefix = _limited(group, mib)
        ended = call(where, words, prefix=prefix)
        notes.append(
            f"{mib} MiB ({'cgroup' if prefix[0] == 'sh' else 'prlimit'}): exit {ended.code}, {ended.last[-160:]}"
        )
        if ended.traceback:
            problems.append(f"{mib} MiB: a traceback: {ended.err[-300:]}")
        time.sleep(1)
        problems += [f"{mib} MiB: left running: {pid}" for pid in marked(ended.pid)]
    if group is not None and group.exists():
        group.rmdir()
    ended = call(where, [*words, "--fresh"])  # what was killed for it counts as failed in the run so far
    if ended.code or ended.traceback:
        return [*problems, f"with enough it ended with {ended.code}: {ended.last[-400:]}"]
    newest = max((where.home / "studies").glob("[!.]*"), key=lambda folder: folder.name)
    found, expected = outcome(newest), whole_outcome(whole)
    return problems + [f"{part} differ" for part in ("builds", "faster") if found[part] != expected[part]]


def _limited(group: Path | None, mib: int) -> list[str]:
    """Words before a program that gets so much memory: by a control group if one can be made, else by a limit."""
    if group is not None:
        group.mkdir(exist_ok=True)
        for name in ("memory.limit_in_bytes", "memory.max"):
            if (group / name).exists():
                (group / name).write_text(str(mib * _MIB))
                return ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    return [shutil.which("prlimit") or "prlimit", f"--data={mib * _MIB}"]


FAULTS: dict[str, Callable[[Place, list[str], Mapping[str, object], list[str]], list[str]]] = {
    "two runs at once": _two_at_once,
    "clock set back": _clock_set_back,
    "read-only": _read_only,
    "short of memory": _short_of_memory,
}
