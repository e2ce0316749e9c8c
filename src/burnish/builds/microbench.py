"""Makes one side of a microbenchmark: the function from a tree's own objects, linked with driver and harness."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from burnish.base.errors import UnavailableError, UserError
from burnish.base.workbench import Workbench
from burnish.builds.trees import Tree, Unit, with_language
from burnish.catalogue.micro import Cross, Micro
from burnish.program import emulation

HARNESS = Path(str(resources.files("burnish.bench"))) / "micro"
_SECONDS = 600.0
_FOR_LINK = re.compile(r"-(O|f|m|-target|-sysroot).*")
_NO_PIE = frozenset({"-fno-pie", "-fno-PIE", "-no-pie"})
_HOST_ONLY = re.compile(r"-m.*|-fcf-protection.*|-pie|-fprofile-.*|-ftest-coverage|-fuse-ld=.*")
"""Words of a compile command that mean the host's processor, or what was measured on it."""


@dataclass(frozen=True)
class CrossCompiler:
    """Compilers for another architecture, and how its programs are started here.

    Attributes:
        architecture: as its kernel names it.
        cc: the C compiler; the C++ compiler has the corresponding name.
        launcher: command words before a program.
        version: the emulator's version line.
    """

    architecture: str
    cc: str
    launcher: tuple[str, ...]
    version: str


def cross_compiler(architecture: str) -> CrossCompiler:
    """Debian's cross compiler for an architecture and qemu's emulation of it.

    Raises:
        UnavailableError: one of them is not installed; names the package.
    """
    cc = shutil.which(f"{architecture}-linux-gnu-gcc")
    emulator = emulation.find(architecture)
    if cc is None or emulator is None or shutil.which(with_language(cc, cxx=True)) is None:
        missing = "emulator (qemu-user)" if cc else "cross compiler"
        raise UnavailableError(
            f"--cross-check {architecture}: there is no {missing} for {architecture}; "
            "`python -m burnish.base.system cross-aarch64` installs both"
        )
    # The newest processor that qemu knows: the question is whether the code is correct, not where it runs.
    return CrossCompiler(architecture, cc, emulator.bounded("max"), emulator.version)


def make(
    entry: Micro,
    tree: Tree,
    folder: Path,
    bench: Workbench,
    *,
    architecture: str,
    cross: CrossCompiler | None = None,
) -> Path:
    """The program of one side, made in the empty `folder`.

    Args:
        entry: the microbenchmark.
        tree: whose function it is.
        folder: for objects and program.
        bench: recorded processes.
        architecture: that the tree was configured on, as the kernel names it.
        cross: compile for another architecture instead.

    Raises:
        UserError: the tree does not have what the entry names.
        InfrastructureError: a compile or link failed; its log is attached.
    """
    there = cross.architecture if cross else architecture
    needs = _needs(entry, cross)
    _generated(entry, tree, bench)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    like = tree.unit(entry.like)
    root = tree.root(entry.like)
    for name, header in needs.copied:
        shutil.copyfile(root / name, folder / header)
    headers = [f"-I{folder}", *(f"-I{root / name}" for name in needs.include)]
    objects = []
    for number, relative in enumerate((*entry.sources_on(there), *needs.sources), 1):
        target = folder / f"{number:02}-{Path(relative).name}.o"
        foreign = relative in needs.sources or (cross and relative not in entry.sources_on(architecture))
        unit = like if foreign else tree.unit(relative)
        made = None if foreign or cross or tree.ours else unit.made
        if made is not None and not any(word.startswith("-flto") for word in unit.argv):
            shutil.copyfile(made, target)  # as the tree's build made it
        else:
            extra = [*headers, *needs.flags] if cross else []
            _compile(unit, root / relative if foreign else unit.source, target, bench, extra, cross)
        objects.append(target)
    driver = folder / "driver.o"
    defines = [f"-D{name}={value}" for name, value in entry.defines]
    _compile(like, entry.driver, driver, bench, [*headers, f"-I{HARNESS}", *defines, *needs.flags], cross)
    plain = _plain(entry, folder)
    cc = cross.cc if cross else with_language(like.compiler, cxx=False)
    for source, target in plain:
        done = bench.run("compile", [cc, "-O2", f"-I{HARNESS}", "-c", source, "-o", target], cwd=folder)
        done.check(f"{tree.name}: compiling {source.name}")
    program = folder / "program"
    link = _link(like, [driver, *objects, *(target for _, target in plain)], entry, needs, cross)
    bench.run("link", [*link, "-o", program], cwd=folder, timeout=_SECONDS).check(f"{tree.name}: linking {entry.name}")
    return program


def _needs(entry: Micro, cross: CrossCompiler | None) -> Cross:
    return entry.cross.get(cross.architecture, Cross()) if cross else Cross()


def _generated(entry: Micro, tree: Tree, bench: Workbench) -> None:
    """Generates the files that the driver includes, in a tree of ours; refuses a foreign tree that lacks them."""
    missing = {name: target for name, target in entry.generated if not (tree.place / name).is_file()}
    if missing and not tree.ours:
        targets = " ".join(dict.fromkeys(missing.values()))
        raise UserError(f"{tree.place}: lacks {', '.join(missing)}; build that first: `ninja {targets}`")
    if missing:
        words: list[str | Path] = ["ninja", "-C", tree.place, *dict.fromkeys(missing.values())]
        done = bench.run("generate", words, timeout=_SECONDS)
        done.check(f"{tree.name}: writing {', '.join(missing)}")


def _compile(
    unit: Unit, source: Path, target: Path, bench: Workbench, extra: Sequence[str], cross: CrossCompiler | None
) -> None:
    words = unit.command(source, target, extra)
    if cross:
        words = [word for word in words if word in extra or not _HOST_ONLY.fullmatch(word)]
        place = words.index(with_language(unit.compiler, cxx=source.suffix != ".c"))
        words = [with_language(cross.cc, cxx=source.suffix != ".c"), *words[place + 1 :]]
    done = bench.run("compile", words, cwd=unit.folder if unit.folder.is_dir() else target.parent, timeout=_SECONDS)
    done.check(f"compiling {source.name}")


def _plain(entry: Micro, folder: Path) -> list[tuple[Path, Path]]:
    """(source, object) of what is the same on both sides: the harness, and symbols that are never called."""
    sources = [(HARNESS / "micro.c", folder / "harness.o")]
    if entry.never_called:
        stubs = folder / "stubs.c"
        lines = [f"__attribute__((weak)) void {name}(void) {{ __builtin_trap(); }}" for name in entry.never_called]
        stubs.write_text("\n".join([*lines, ""]))
        sources.append((stubs, folder / "stubs.o"))
    return sources


def _link(
    like: Unit, objects: Sequence[Path], entry: Micro, needs: Cross, cross: CrossCompiler | None
) -> list[str | Path]:
    libraries = [word for word in entry.link if word not in needs.without_link]
    if cross:
        return [with_language(cross.cc, cxx=True), "-static", *objects, *libraries, "-pthread"]
    flags = [word for word in like.argv if _FOR_LINK.fullmatch(word) and not word.startswith("-flto")]
    pie = ["-no-pie"] if _NO_PIE.intersection(like.argv) else []
    return [with_language(like.compiler, cxx=True), *flags, *pie, *objects, *libraries, "-pthread"]
