"""What reading C++ once saves where clang compiles a file for several builds, and that the code is the same.

    python benchmarks/front_ends.py ENGINE SOURCE [--objects 30] [--folder FOLDER] [--flags=-O2]

SOURCE is an unpacked tree (HOME/work/ENGINE/source). It is configured as Burnish configures it, by the newest clang
that is here, and so many of its files (drawn at random, the same ones each time) are compiled for two builds: one with
counters for a profile, one for ThinLTO. Each directly; and in two steps as Burnish's builds are
(src/burnish/toolchain/read_once.sh), of which the first is the same for both: clang reads the file and writes what it
read as bitcode that nothing has changed yet, then makes the object of that. CPU time is the compiler's own, user and
system; a step's is noted by GNU time. Objects with machine code count as the same when they are the same bytes, those
of ThinLTO when they are once the names of values are left out, which make no code.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from compiles import configured, drawn, job_of, run

from burnish.base.errors import InfrastructureError, UserError
from burnish.catalogue import load
from burnish.engines.registry import create
from burnish.toolchain import ccache, compile_costs
from burnish.toolchain.toolchains import choose, find_toolchains

BUILDS = {"instrumented": ("-fprofile-generate",), "ThinLTO": ("-flto=thin",)}
"""What each build's compile has in addition."""


@dataclass
class Compared:
    """One file's compiles: CPU seconds by step and build, and the builds whose objects differ."""

    path: str
    read: float = 0.0
    direct: dict[str, float] = field(default_factory=dict)
    made: dict[str, float] = field(default_factory=dict)
    differ: list[str] = field(default_factory=list)


def main() -> int:
    """Compares and prints; 1 when an object differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("source", type=Path)
    parser.add_argument("--objects", type=int, default=30)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--flags", default="-O2")
    asked = parser.parse_args()
    engine, clang = create(load.engine(asked.engine)), choose("clang", find_toolchains())
    with tempfile.TemporaryDirectory(prefix="burnish-front-ends-", dir=asked.folder) as folder:
        job = job_of(engine, asked.source, Path(folder), clang, asked.flags)
        build = configured(engine, job)
        commands = {item.path: item.command for item in engine.objects(job)}
        chosen = drawn(commands, asked.objects)
        run((*build.argv[:-1], *chosen), job.place)  # what they need of generated headers
        found = [compare(path, commands[path], job.place) for path in chosen]
    report(found, clang.name)
    return 1 if any(each.differ for each in found) else 0


def compare(path: str, command: tuple[str, ...], place: Path) -> Compared:
    """Compiles one file for each build, directly and in two steps."""
    at = command.index("-o")
    words = (*command[:at], *command[at + 2 :])
    found, names, meter = Compared(path), ("direct.o", "made.o"), compile_costs.lay(place, "front-ends")
    if meter is None:
        raise UserError("GNU time is not here, which notes each step's CPU time: apt-get install time")
    for build, more in BUILDS.items():
        found.direct[build] = run((*words, *more, "-o", names[0]), place)
        meter.notes.write_text("")
        run(("sh", str(ccache.READ_ONCE), *words, *more, "-o", names[1]), place, meter.variables)
        costs = compile_costs.parse(meter.notes.read_text())
        found.read, found.made[build] = costs["made.bc"].cpu_seconds, costs[names[1]].cpu_seconds
        objects = [(place / name).read_bytes() for name in names]
        if objects[0] != objects[1] and objects[0].startswith(b"BC"):
            opt = str(Path(words[0]).resolve().with_name("opt"))
            for name in names:
                run((opt, "--discard-value-names", "-passes=verify", name, "-o", name), place)
            objects = [(place / name).read_bytes() for name in names]
        if objects[0] != objects[1]:
            found.differ.append(build)
    return found


def report(found: list[Compared], compiler: str) -> None:
    """A Markdown table."""
    print(f"| {compiler}: CPU s of {len(found)} files | directly | reading | making of it |\n| --- | --- | --- | --- |")
    read, whole, made = sum(each.read for each in found), 0.0, 0.0
    for build in BUILDS:
        directly, of_it = sum(each.direct[build] for each in found), sum(each.made[build] for each in found)
        print(f"| {build} | {directly:.0f} | {read:.0f} | {of_it:.0f} ({100 * of_it / directly:.0f} %) |")
        whole, made = whole + directly, made + of_it
    once, same = read + made, sum(not each.differ for each in found)
    print(f"\nboth builds: {whole:.0f} s directly, {once:.0f} s with reading done once ({100 * once / whole:.0f} %);")
    for each in found:
        if each.differ:
            print(f"{', '.join(each.differ)} differs: {each.path}")
    print(f"of {same} of {len(found)} files all objects are the same")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (InfrastructureError, UserError) as error:
        sys.exit(str(error))
