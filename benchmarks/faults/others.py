"""Faults that come once: a second run at once, a clock that is set back, a read-only store, too little memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from asked import NAMES, words_of
from driving import Ended, Place, call, marked
from kills import after, undisturbed
from ledger import Case, Ledger

_FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
_CGROUPS = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
_MIB = 1 << 20


def disturb(ledger: Ledger, place: Path, seed: int, points: int) -> None:
    """Each of the faults, on each kind of study."""
    cases = [(fault, name) for fault in FAULTS for name in NAMES]
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


def _clock_set_back(where: Place, words: list[str], whole: Mapping[str, object], notes: list[str]) -> list[str]:
    """Begun today, set back by a day in the middle, killed, resumed a year ago."""
    if not _FAKETIME:
        notes.append("not tried: libfaketime is not installed")
        return []
    stamp = where.root / "clock"
    faked = {
        "LD_PRELOAD": str(_FAKETIME[0]), "FAKETIME_TIMESTAMP_FILE": str(stamp), "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }  # fmt: skip
    stamp.write_text("+0\n")
    third = min(8.0, float(str(whole["seconds"])) / 3)
    setter = subprocess.Popen(["sh", "-c", f"sleep {third}; echo -1d > {stamp}"])
    call(where, words, environment=faked, kill=(2 * third, "driver"))
    setter.wait()
    stamp.write_text("-365d\n")
    return _ended_well(where, call(where, words, environment=faked), whole)


def _read_only(where: Place, words: list[str], whole: Mapping[str, object], notes: list[str]) -> list[str]:
    """A home that became read-only while it was used: one line; afterwards it goes on."""
    call(where, words, kill=(float(str(whole["seconds"])) / 2, "driver"))
    problems = []
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
    return problems + _ended_well(where, call(where, [*words, "--fresh"]), whole)


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
