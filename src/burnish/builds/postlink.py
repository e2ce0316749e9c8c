"""Work around a link: preparing linkers, checking the linked program, strip and preload after it."""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError
from burnish.base.files import linked_copy
from burnish.builds import witness
from burnish.builds.reproducer import SCRIPT
from burnish.builds.stages import Compile, Preload, Strip
from burnish.engines.contract import Engine
from burnish.program.built import Built
from burnish.program.elf import build_id
from burnish.record.costs import Cost
from burnish.record.store import DESCRIPTION, Entry, Store
from burnish.record.workbench import Bench
from burnish.toolchain.link_parts import catalogue, word_flags
from burnish.toolchain.linking import layout_script

HUGE_TEXT = "lib/huge_text.so"
"""Path of the library that maps code to huge pages, in a build's folder."""

_SEPARATORS = " :"
"""What LD_PRELOAD's paths must not contain."""


def lay_linkers(stage: Compile, folder: Path) -> None:
    """Makes the folder passed with -B to a link with another linker or in another order; removes old ones."""
    shutil.rmtree(folder, ignore_errors=True)
    linker = stage.linking.linker
    if linker is None or not stage.linking.needs_folder:
        return
    folder.mkdir(mode=0o700, parents=True)
    if linker.name == "lld":
        (folder / "ld.lld").symlink_to(linker.path)
        (folder / "layout.ld").write_text(layout_script(stage.linking.layout))
        return
    wrapper = shuffling_linker(stage.linking.layout, linker.path, stage.toolchain.ar or Path("ar"))
    for name in ("ld", catalogue().linkers[linker.name].program):
        (folder / name).write_text(wrapper)
        (folder / name).chmod(0o700)


def shuffling_linker(seed: int, linker: Path, ar: Path) -> str:
    """The text of a program (sh and awk) that links as `linker` does, in an order shuffled by `seed`."""
    text = (resources.files("burnish.builds") / "shuffle_link.sh").read_text()
    return (
        text.replace("@SEED@", str(seed))
        .replace("'@LINKER@'", shlex.quote(str(linker)))
        .replace("'@AR@'", shlex.quote(str(ar)))
        .replace("@LINKER@", linker.name)
    )


def needed(program: Path) -> list[str]:
    """The libraries that a program's file asks for (NEEDED), in its order; empty for a static one."""
    text = process.capture(["readelf", "-dW", program])
    return re.findall(r"\(NEEDED\).*\[(\S+)\]", text)


def load_order(program: Path, environment: Mapping[str, str]) -> list[str]:
    """The libraries that the loader maps for a program, in the order in which symbols are looked up in them."""
    done = process.run([program], env={**environment, "LD_TRACE_LOADED_OBJECTS": "1"}, timeout=20)
    return [Path(line.split()[0]).name for line in done.output.splitlines() if line.strip()]


def verify(stage: Compile, built: Built, name: str) -> dict[str, object]:
    """Checks facts about a linked program that its recipe promises.

    Raises:
        InfrastructureError: it should be static but is not, or its malloc is not the allocator's.
    """
    facts: dict[str, object] = {}
    if stage.linking.linker is not None:
        facts["linker"] = stage.linking.linker.version
    if stage.linking.layout:
        facts["layout"] = stage.linking.layout
    if stage.linking.static:
        libraries = needed(built.server)
        if libraries or "INTERP" in process.capture(["readelf", "-lW", built.server]):
            raise InfrastructureError(f"{name}: linked statically, yet it loads {', '.join(libraries) or 'a loader'}")
    if stage.linking.allocator is not None:
        _check_first(built, stage.linking.allocator.name, name)
        facts["allocator"] = f"{stage.linking.allocator.name}, linked"
    return facts


def _check_first(built: Built, library: str, name: str) -> None:
    order = load_order(built.server, dict(built.environment))
    libc = next((index for index, item in enumerate(order) if item.startswith("libc.so")), len(order))
    if library not in order[:libc]:
        raise InfrastructureError(
            f"{name}: malloc would not be that of {library}: the loader maps {', '.join(order) or 'nothing'}"
        )


def environment(entry: Entry) -> tuple[tuple[str, str], ...]:
    """Variables that a build in the store is launched with; paths of its own files are relative to its folder."""
    preload = entry.about.get("preload", ())
    if not preload:
        return ()
    # A library's own path stays as it is: it is absolute.
    paths = [str(entry.folder / path) for path in preload]
    return (("LD_PRELOAD", ":".join(paths)),)


def strip_commands(stage: Strip, before: str, program: str) -> list[tuple[str, ...]]:
    """Commands that strip `before` to `program` and write the file with its symbols beside it."""
    symbols, tool = f"{program}.debug", stage.tool or "objcopy"
    # Neither objcopy can extract only the symbols of a program that BOLT wrote; then the whole program is kept.
    keep = (tool, "--only-keep-debug", before, symbols) if stage.tool is None else ("cp", "-p", before, symbols)
    return [
        keep,
        (tool, f"--strip-{stage.what}", before, program),
        (tool, f"--add-gnu-debuglink={symbols}", program),
    ]


def _launch(stage: Preload) -> tuple[str, ...]:
    """Instructions to start a preloaded build's program by hand."""
    lines, libraries = [], []
    if stage.huge_text:
        source = f"{Path(HUGE_TEXT).stem}.c"
        library = Path(HUGE_TEXT).name
        flags = " ".join(["-O2", "-shared", "-fPIC", *word_flags(stage.word)])
        lines.append(f"{library}, from {source} beside this script: {stage.toolchain.cc} {flags} {source} -o {library}")
        libraries.append(f"/path/of/{library}")
    if stage.allocator is not None:
        libraries.append(str(stage.allocator.path))
    return (*lines, f"start it with LD_PRELOAD={':'.join(libraries)}")


@dataclass
class PostLink:
    """Makes the stages that work on a finished program.

    Attributes:
        engine: the engine.
        store: where builds are read and written.
        bench: recorded processes and progress.
    """

    engine: Engine
    store: Store
    bench: Bench

    def make(self, stage: Strip | Preload, name: str) -> Entry:
        """Makes the stage's build and returns its entry."""
        expected = self.store.cost(self.engine.spec.name, stage.title, name)
        with self.bench.step(f"{name}: {stage.title}", f"{stage.title}-{name}-{stage.key}", expected):
            base = self.store.find("builds", stage.build)
            if base is None:
                raise InfrastructureError(f"build {stage.build} is not in the store; run the same command again")
            began = time.monotonic()
            folder = self.store.begin("builds", stage.key)
            linked_copy(base.folder, folder, DESCRIPTION, SCRIPT)
            if isinstance(stage, Strip):
                facts = self._strip(stage, name, base, folder)
            else:
                facts = self._preload(stage, name, base, folder)
            seconds = time.monotonic() - began
            built = self.engine.built(name, folder, stage.key)
            facts |= self._script(stage, base, folder, built)
            about = {
                **base.about,
                **facts,
                "base": base.key,
                "seconds": seconds,
                "server_bytes": built.server.stat().st_size,
            }
            entry = self.store.admit("builds", stage.key, about)
            self.store.costs.note(self.engine.spec.name, stage.title, name, Cost(seconds, kept=entry.size()))
            return entry

    def _strip(self, stage: Strip, name: str, base: Entry, folder: Path) -> dict[str, object]:
        """Moves symbols to a file beside the program, which refers to it (debuglink); both keep the build id."""
        before = self.engine.built(name, base.folder, base.key).server
        program = self.engine.built(name, folder, stage.key).server
        symbols = program.with_name(f"{program.name}.debug")
        program.unlink()
        for argv in strip_commands(stage, str(before), program.name):
            self._run("strip", argv, name, cwd=program.parent)
        shutil.copymode(before, program)
        if build_id(program) != build_id(before):
            raise InfrastructureError(f"{name}: strip changed the build id of {before}")
        saved = before.stat().st_size - program.stat().st_size
        return {"strip": stage.what, "stripped_bytes": saved, "symbols": str(symbols.relative_to(folder))}

    def _preload(self, stage: Preload, name: str, base: Entry, folder: Path) -> dict[str, object]:
        """Compiles the library for huge pages, checks that the libraries work, returns their paths."""
        libraries: list[str] = []
        notes = list(base.about.get("notes", ()))
        if stage.huge_text:
            library = folder / HUGE_TEXT
            library.parent.mkdir(exist_ok=True)
            source = str(resources.files("burnish.builds") / "huge_text.c")
            options = ["-O2", "-shared", "-fPIC", *word_flags(stage.word)]
            self._run("huge_text", [stage.toolchain.cc, *options, source, "-o", library], name)
            libraries.append(HUGE_TEXT)
        if stage.allocator is not None:
            libraries.append(str(stage.allocator.path))
        if any(mark in str(folder) for mark in _SEPARATORS):
            raise InfrastructureError(
                f"{name}: LD_PRELOAD cannot name {folder}: its path has a space or a colon; name another BURNISH_HOME"
            )
        built = self.engine.built(name, folder, stage.key)
        paths = ":".join(str(folder / path) for path in libraries)
        launched = Built(built.name, folder, built.server, stage.key, (("LD_PRELOAD", paths),))
        facts: dict[str, object] = {"preload": libraries}
        if stage.allocator is not None:
            _check_first(launched, stage.allocator.path.name, name)
            facts["allocator"] = f"{stage.allocator.name}, preloaded"
        if stage.huge_text:
            code, huge = self._huge(launched)
            facts |= {"code_bytes": code, "huge_text_bytes": huge}
            notes.append(f"code on huge pages: {huge >> 20} MiB for {code / (1 << 20):.1f} MiB of code")
            if huge == 0:
                raise InfrastructureError(
                    f"{name}: no huge page for {code} bytes of code: none was free, or not aligned"
                )
        return {**facts, "notes": notes}

    def _script(self, stage: Strip | Preload, base: Entry, folder: Path, built: Built) -> dict[str, object]:
        """The script that rebuilds the program, with instructions if only its launch is different."""
        making = witness.read(base.about)
        if making is None:
            return {}
        if isinstance(stage, Strip):
            # The program contains the name of the file with its symbols.
            commands = strip_commands(stage, "before", built.server.name)
            moved = ("mv", built.server.name, "after")
            making = witness.after_link(making, stage.title, [*commands, moved], built.server, key=stage.key)
        else:
            making = replace(making, key=stage.key, title=f"{making.title}, {stage.title}", launch=_launch(stage))
            if stage.huge_text:
                source = resources.files("burnish.builds") / f"{Path(HUGE_TEXT).stem}.c"
                (folder / source.name).write_text(source.read_text())
                making = replace(making, beside=(*making.beside, source.name))
        witness.leave(making, folder)
        return {"sha256": making.sha256, "making": witness.described(making)}

    def _huge(self, built: Built) -> tuple[int, int]:
        """(bytes of code, bytes of it on huge pages), as the kernel reports for a short run of the program."""
        with tempfile.TemporaryDirectory(prefix="burnish-") as place:
            report = Path(place) / "report"
            env = {**dict(built.environment), "HUGE_TEXT_REPORT": str(report)}
            # The answer does not matter: the library has done its work by then.
            self.bench.run("huge pages", [built.server, "--version"], env=env, timeout=60)
            words = report.read_text().split() if report.is_file() else ["0", "0"]
        return int(words[0]), int(words[1])

    def _run(self, what: str, argv: Sequence[str | Path], name: str, cwd: Path | None = None) -> None:
        self.bench.run(what, argv, cwd=cwd, timeout=600).check(f"{name}: {what}")
