"""What precompiled headers save, and that the machine code is the same: MariaDB's files compiled with them and without.

    python benchmarks/precompiled.py SOURCE [--objects 30] [--every] [--folder FOLDER] [--flags='-O2 -g']

SOURCE is an unpacked tree (HOME/work/mariadb/source). It is configured as Burnish configures it, by the newest gcc that
is here, and so many of the files that have precompiled headers (drawn at random, the same ones each time; all of them
with --every) are compiled one after the other, each once with and once without. CPU time is the compiler's own, user
and system. Two objects count as the same when they are the same bytes once debug sections are taken out: code, data,
their names, and what the linker is told of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from compiles import configured, drawn, job_of, run

from burnish.base.errors import InfrastructureError, UserError
from burnish.catalogue import load
from burnish.engines.registry import create
from burnish.toolchain.toolchains import choose, find_toolchains

BESIDES = ("-fpch-preprocess", "-Winvalid-pch")
"""What a compile that reads precompiled headers is given besides the headers themselves."""


@dataclass(frozen=True)
class Compared:
    """One file's two compiles: CPU seconds, and whether the objects are the same."""

    path: str
    with_headers: float
    without: float
    same: bool


def main() -> int:
    """Compares and prints; 1 when an object differs."""
    asked = arguments()
    engine = create(load.engine("mariadb"))
    gcc = choose("gcc", find_toolchains())
    with tempfile.TemporaryDirectory(prefix="burnish-precompiled-", dir=asked.folder) as folder:
        job = replace(job_of(engine, asked.source, Path(folder), gcc, asked.flags), precompiled=engine.spec.precompiled)
        place = job.place
        build = configured(engine, job)
        commands = {item.path: item.command for item in engine.objects(job) if "-include" in item.command}
        chosen = drawn(commands, None if asked.every else asked.objects)
        # What they need of headers, generated ones and precompiled ones.
        run((*build.argv[:-1], *chosen), place)
        found = [compare(path, commands[path], place) for path in chosen]
    report(found, gcc.name)
    return 0 if all(each.same for each in found) else 1


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--objects", type=int, default=30)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--flags", default="-O2 -g")
    return parser.parse_args()


def compare(path: str, command: tuple[str, ...], place: Path) -> Compared:
    """Compiles one file both ways; the object's path is the same, since a profile's names are made of it."""
    usual = list(command)
    at = usual.index("-include")
    bare = [word for word in (*usual[:at], *usual[at + 2 :]) if word not in BESIDES]
    seconds, objects = [], []
    for argv in (usual, bare):
        seconds.append(run(argv, place))
        stripped = place / "stripped.o"
        run(("objcopy", "--strip-debug", path, str(stripped)), place)
        objects.append(stripped.read_bytes())
    return Compared(path, seconds[0], seconds[1], objects[0] == objects[1])


def report(found: list[Compared], compiler: str) -> None:
    """A Markdown table."""
    print(f"| {compiler}: file | without, s | with, s | ratio | object |")
    print("| --- | --- | --- | --- | --- |")
    for each in found:
        name = each.path.split(".dir/")[-1].removesuffix(".o")
        ratio = f"{each.without:.2f} | {each.with_headers:.2f} | {each.without / each.with_headers:.2f}"
        print(f"| {name} | {ratio} | {'same' if each.same else 'differs'} |")
    without, with_headers = sum(each.without for each in found), sum(each.with_headers for each in found)
    same = sum(each.same for each in found)
    print(f"\n{len(found)} files: {without:.0f} s of CPU time without, {with_headers:.0f} s with, which is")
    print(f"{without / with_headers:.2f} times as much without; {same} of {len(found)} objects the same")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (InfrastructureError, UserError) as error:
        sys.exit(str(error))
