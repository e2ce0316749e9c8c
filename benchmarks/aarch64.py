"""The fake engine for every aarch64 target, cross-compiled and asked under qemu, as a table in Markdown.

What an aarch64 host does with a build, without such a host and without timing: compiled with the target's flags, read
for the level of instructions that it needs, started on each processor of the catalogue and asked for an answer that is
known. Needs Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.

Usage: aarch64.py
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from burnish.catalogue import load
from burnish.catalogue.flags import Target, targets
from burnish.catalogue.instructions import Processor, instructions, processors
from burnish.engines.fake.engine import SOURCES
from burnish.engines.fake.gate import answers_under
from burnish.program import emulation
from burnish.program.built import Built
from burnish.program.emulation import Emulator
from burnish.program.instructions import scan

COMPILER = "aarch64-linux-gnu-gcc"
LIBRARIES = ("-L", "/usr/aarch64-linux-gnu")


def compiled(target: Target, place: Path) -> Built:
    """The fake server for a target."""
    source = load.engine("fake").folder / "source"
    server = place / "server"
    words = [COMPILER, "-O2", *target.flags, "-pthread", *(source / name for name in SOURCES), "-o", server]
    subprocess.run(words, check=True)
    return Built(target.name, place, server, target.name)


def asked(built: Built, processor: Processor, emulator: Emulator) -> str:
    """What becomes of it on a processor, in words."""
    place = built.folder / processor.model
    place.mkdir()
    return answers_under(built, place, (*emulator.launcher(processor), *LIBRARIES)) or "answers"


def main() -> None:
    emulator = emulation.find("aarch64")
    if emulator is None:
        raise SystemExit("qemu-user is not installed")
    tried = {name: processor for name, processor in processors().items() if processor.architecture == "aarch64"}
    print(f"{subprocess.check_output([COMPILER, '--version'], text=True).splitlines()[0]}; {emulator.version}\n")
    print(f"| target | needs | {' | '.join(tried)} |")
    print(f"|{' --- |' * (len(tried) + 2)}", flush=True)
    for target in targets().values():
        if target.architecture != "aarch64":
            continue
        with tempfile.TemporaryDirectory(prefix="burnish-aarch64-") as folder:
            built = compiled(target, Path(folder))
            needs = scan(built.server, instructions())
            found = [asked(built, processor, emulator) for processor in tried.values()]
            level = ", ".join([needs.level or needs.note, *needs.beyond])
            print(f"| `{target.name}` | {level} | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    main()
