"""Costs of each compile and link: a wrapper around the compiler that records peak memory and time.

With ccache, it is the command with which ccache runs the compiler (CCACHE_PREFIX), so that a hit costs nothing. The
costs of the compile that filled the cache are kept in the store, by command and source. Where clang makes an object in
two steps (read_once.sh), each is a cost, and they are added up: an object costs the same whoever read its source.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.base.digest import digest_of
from burnish.program.built import CompiledObject
from burnish.toolchain import ccache

VARIABLE = "BURNISH_COSTS"
"""Environment variable that names the file to write to; without it the wrapper only runs the command."""

_WRAPPER_VARIABLE = "BURNISH_METER"
"""Environment variable that names the wrapper, for read_once.sh."""

_SCRIPT = f"""\
#!/bin/sh
# Runs a compiler; notes peak kilobytes, seconds of wall, user and system time, and what it made.
[ -n "${VARIABLE}" ] || exec "$@"
made=- last=
for word; do
	if [ "$last" = -o ]; then made=$word; fi
	last=$word
done
exec TIME -q -a -o "${VARIABLE}" -f "%M %e %U %S $made" "$@"
"""

HEAVIEST = 10
"""Number of the largest objects that are kept in a build's facts."""


@dataclass(frozen=True)
class Cost:
    """The costs of one compile or link.

    Attributes:
        peak_bytes: largest resident set of any one process in it.
        seconds: wall time.
        cpu_seconds: user and system time.
    """

    peak_bytes: int
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Meter:
    """The wrapper and the file that it writes.

    Attributes:
        script: the wrapper.
        notes: the file, a line for each compile and link.
    """

    script: Path
    notes: Path

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables with which to run the wrapper."""
        return {VARIABLE: str(self.notes), _WRAPPER_VARIABLE: str(self.script)}


def lay(work: Path, key: str) -> Meter | None:
    """Writes a new wrapper into `work`, at a constant path; None without GNU time.

    Args:
        work: the engine's work folder.
        key: of the build. What was noted of it before it was killed is still there: its objects are in the cache, and
            nothing else knows what they cost. Whoever finishes the build removes the notes.
    """
    program = shutil.which("time")
    if program is None:
        return None
    meter = Meter(work / "meter.sh", work / f"compile-costs-{key}")
    meter.script.write_text(_SCRIPT.replace("TIME", program, 1))
    meter.script.chmod(0o700)
    with meter.notes.open("a") as notes:
        if notes.tell():
            notes.write("\n")  # the last line may be incomplete
    return meter


def parse(text: str) -> dict[str, Cost]:
    """Costs by output file; if a file was made several times, the highest; other lines are skipped."""
    costs: dict[str, Cost] = {}
    for line in text.splitlines():
        words = line.split(" ", 4)
        try:
            peak, wall, user, system = int(words[0]), float(words[1]), float(words[2]), float(words[3])
            made = words[4]
        except (ValueError, IndexError):
            continue
        if made not in costs or costs[made].peak_bytes < peak * 1024:
            costs[made] = Cost(peak * 1024, wall, user + system)
    return costs


def command_key(item: CompiledObject, place: Path) -> str:
    """Digest of a compile in the build folder `place`: of its command and its source's content."""
    return digest_of([item.command, _content(item, place)])


def reading_key(item: CompiledObject, place: Path) -> str:
    """Digest of the first of a compile's two steps: of what it reads, and with which flags."""
    at = item.command.index("-o") if "-o" in item.command else len(item.command)
    words = ccache.reading_flags((*item.command[:at], *item.command[at + 2 :])) or ()
    return digest_of(["read", words, _content(item, place)])


def _content(item: CompiledObject, place: Path) -> str:
    source = place / item.source
    return hashlib.sha256(source.read_bytes()).hexdigest() if source.is_file() else ""


def bitcode(item: CompiledObject) -> str:
    """Path of what the first of two steps makes, as read_once.sh names it."""
    return f"{item.path.removesuffix('.o')}.bc"


def in_one(objects: Iterable[CompiledObject], noted: Mapping[str, Cost], read: Mapping[str, Cost]) -> dict[str, Cost]:
    """Costs by path, those of two steps added up.

    Args:
        objects: the program's objects.
        noted: costs of this build, by what was made: objects, what was read of them, programs.
        read: costs of reading sources in earlier builds, by object.
    """
    costs = dict(noted)
    for item in objects:
        first, made = noted.get(bitcode(item)) or read.get(item.path), noted.get(item.path)
        if first is not None and made is not None:
            costs[item.path] = Cost(
                max(first.peak_bytes, made.peak_bytes),
                first.seconds + made.seconds,
                first.cpu_seconds + made.cpu_seconds,
            )
    return costs


def summary(
    objects: Sequence[CompiledObject], noted: Mapping[str, Cost], earlier: Mapping[str, Cost], server: str
) -> dict[str, Any]:
    """Facts for a build's description, as plain values; pure.

    Args:
        objects: the program's objects.
        noted: costs of this build, by path.
        earlier: costs of earlier builds, by path, for objects from the cache.
        server: path of the linked program in the build folder.
    """
    known = {item.path: cost for item in objects if (cost := noted.get(item.path) or earlier.get(item.path))}
    heaviest = sorted(known.items(), key=lambda pair: -pair[1].peak_bytes)[:HEAVIEST]
    link = noted.get(server)
    return {
        "compiled": sum(item.path in noted for item in objects),
        "known": len(known),
        "of": len(objects),
        "compile_cpu_seconds": round(sum(cost.cpu_seconds for cost in known.values()), 2),
        "heaviest": [[path, cost.peak_bytes, cost.seconds] for path, cost in heaviest],
        "link": [link.peak_bytes, link.seconds] if link else None,
    }


def fresh(objects: Sequence[CompiledObject], noted: Mapping[str, Cost], place: Path) -> dict[str, Cost]:
    """Costs to keep in the store: by command, of the objects compiled (not cached) in the build folder `place`."""
    whole = {command_key(item, place): noted[item.path] for item in objects if item.path in noted}
    read = {reading_key(item, place): noted[bitcode(item)] for item in objects if bitcode(item) in noted}
    return whole | read
