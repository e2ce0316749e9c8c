"""Puts a measured program into the distribution's own binary package in place of the distribution's program."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from burnish.base import system
from burnish.base.errors import UserError
from burnish.base.files import drafted, remove_tree, sha256_of, write_whole, written_to
from burnish.base.workbench import Workbench
from burnish.model.engine import Packaging
from burnish.packages import control, linked_in, sbom, signing, statements
from burnish.packages.chosen import Chosen
from burnish.packages.statements import Made, Subject
from burnish.program import program as programs
from burnish.source.debian import binary
from burnish.source.debian.binary import BinaryPackage

DOC = "usr/share/doc/{package}/burnish"
"""Folder of provenance in a package."""

_TOOLS = ("dpkg-deb", "dpkg-shlibdeps")
"""Programs that make a package; the second one is in Debian's dpkg-dev, which not every server has."""

_BUILD_SECONDS = 3600.0
"""xz takes a minute of CPU time for a server with its symbols, which was more than ten on a host at work."""


@dataclass(frozen=True)
class Staged:
    """A package's files, unpacked, with the program replaced.

    Attributes:
        root: the folder; control files are in DEBIAN.
        program: the program in it.
        stripped: whether symbols were removed from it.
    """

    root: Path
    program: Path
    stripped: bool


def stage(
    base: BinaryPackage, chosen: Chosen, packaging: Packaging, folder: Path, bench: Workbench, *, strip: bool
) -> Staged:
    """Unpacks the distribution's package and replaces its program by the measured one.

    Args:
        base: the distribution's package.
        chosen: the measured program.
        packaging: where the program is in the package.
        folder: scratch folder, emptied.
        bench: recorded processes.
        strip: whether symbols and debug information are removed; everything that is loaded stays as it was measured.

    Raises:
        UserError: the package has no such program, or one of another architecture; or stripping changes what is loaded.
    """
    remove_tree(folder)
    root = binary.unpack(base, folder, control=True)
    program = root / packaging.program
    if not program.is_file() or program.is_symlink():
        raise UserError(f"{base.file}: it has no /{packaging.program}, so nothing in it can be replaced")
    theirs, ours = programs.read(program), programs.read(chosen.program)
    if (theirs.machine, theirs.bits) != (ours.machine, ours.bits):
        raise UserError(
            f"{base.file}: for {theirs.machine} ({base.architecture}), and the measured program is for {ours.machine}; "
            "a package is made for the architecture that was measured"
        )
    mode, times = program.stat().st_mode, program.stat().st_mtime_ns
    with written_to(program):
        shutil.copyfile(chosen.program, program)
    if strip:
        words: list[str | Path] = ["strip", "--strip-unneeded", "--remove-section=.comment", program]
        bench.run("strip", words, timeout=_BUILD_SECONDS).check(f"stripping {program}")
        after = programs.read(program)
        if (after.code, after.data) != (ours.code, ours.data):
            raise UserError(
                f"{chosen.variant}: stripping would change code or data that were measured; leave --strip out"
            )
    program.chmod(stat.S_IMODE(mode))
    os.utime(program, ns=(times, times))
    return Staged(root, program, strip)


@dataclass(frozen=True)
class Deb:
    """A finished package.

    Attributes:
        file: the .deb.
        beside: files beside it: statements, bill of materials.
        version: its version.
        base: the distribution's package that it was made from.
        sha256: hex digest of the .deb.
        program: hex digest of the program in it.
    """

    file: Path
    beside: tuple[Path, ...]
    version: str
    base: BinaryPackage
    sha256: str
    program: str


def make(
    base: BinaryPackage, staged: Staged, chosen: Chosen, made: Made, packaging: Packaging, settings: str, output: Path,
    bench: Workbench,
) -> Deb:  # fmt: skip
    """Writes control files and provenance into the staged package and builds it; the same input gives the same bytes.

    Args:
        base: the distribution's package.
        staged: its files, with the program replaced.
        chosen: the measured program.
        made: how it became what is packaged.
        packaging: how the distribution packages the server.
        settings: text of the packaged configuration file; '' for none.
        output: folder of the package and of the files beside it.
        bench: recorded processes.
    """
    root = staged.root
    epoch = int(staged.program.stat().st_mtime)
    subject = Subject(packaging.program, sha256_of(staged.program))
    folder = DOC.format(package=base.name)
    needed = programs.read(staged.program).needed
    inside = tuple(chosen.found.entry.about.get("linked_in", ()))
    written = {
        statements.PROVENANCE_FILE: statements.text(statements.provenance([subject], chosen, made)),
        statements.VERDICT_FILE: statements.text(statements.verdict([subject], chosen, made)),
        statements.SBOM_FILE: sbom.sbom(subject, chosen, (*needed, *inside)),
        "README": readme(base, chosen, made, packaging, settings=bool(settings)),
    }
    for name, content in written.items():
        _add(root, f"{folder}/{name}", content)
    if settings:
        _add(root, packaging.settings_file, settings)
    fields = control.fields_of((root / "DEBIAN/control").read_text())
    computed = _shared_libraries(staged.program, root.parent, bench)
    version = control.version(base.version, forced=bool(made.forced))
    new = control.repackaged(
        fields,
        new_version=version,
        depends=control.dependencies(
            fields.get("Depends", ""), computed, binary.older, linked_in.needless(root, inside)
        ),
        size_kb=_installed_kb(root),
        lines=[*_described(chosen, made), *linked_in.warning(inside)],
        facts={"Burnish-Program": f"sha256:{subject.sha256}", "Burnish-Variant": chosen.variant,
               "Burnish-Run": chosen.result.name},
    )  # fmt: skip
    (root / "DEBIAN/control").write_text(control.text_of(new))
    (root / "DEBIAN/md5sums").write_text(control.sums(_md5s(root)))
    _normalise(root, epoch)
    output.mkdir(parents=True, exist_ok=True)
    plain = re.sub(r"^\d+:", "", version)
    file = output / f"{base.name}_{plain}_{base.architecture}.deb"
    with new_package(file) as draft:
        # One thread: with more, the compressed bytes depend on their number.
        words: list[str | Path] = ["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", root, draft]
        done = bench.run("dpkg-deb", words, env={"SOURCE_DATE_EPOCH": str(epoch), "TZ": "UTC"}, timeout=_BUILD_SECONDS)
        done.check(f"building {file.name}")
    sha256 = sha256_of(file)
    subjects = [Subject(file.name, sha256), subject]
    beside = {
        statements.PROVENANCE_FILE: statements.text(statements.provenance(subjects, chosen, made)),
        statements.VERDICT_FILE: statements.text(statements.verdict(subjects, chosen, made)),
        statements.SBOM_FILE: written[statements.SBOM_FILE],
    }
    return Deb(file, write_beside(file, beside), version, base, sha256, subject.sha256)


@contextmanager
def new_package(file: Path) -> Iterator[Path]:
    """A draft to write a package to; it takes the place of one of that name, whose signature goes with it."""
    with drafted(file) as draft:
        yield draft
        if file.exists() and sha256_of(file) != sha256_of(draft):
            file.with_name(file.name + signing.SUFFIX).unlink(missing_ok=True)


def write_beside(file: Path, contents: dict[str, str]) -> tuple[Path, ...]:
    """Writes files named after `file`; returns their paths."""
    paths = []
    for name, content in contents.items():
        path = file.with_name(f"{file.name}.{name}")
        write_whole(path, content.encode())
        paths.append(path)
    return tuple(paths)


def _described(chosen: Chosen, made: Made) -> list[str]:
    """What the description says besides."""
    what = f"variant {chosen.variant} of Burnish run {chosen.result.name}, measured at {chosen.gain}"
    lines = [f"In this package the server program is another build of the same source: {what}."]
    if made.forced:
        lines.append(f"FORCED, in spite of: {'; '.join(made.forced)}.")
    accepted = [one.what for one in made.differences if one.accepted]
    if accepted:
        lines.append(f"It differs from Debian's, which was accepted: {'; '.join(accepted)}.")
    return lines


def readme(base: BinaryPackage, chosen: Chosen, made: Made, packaging: Packaging, *, settings: bool) -> str:
    """What a user finds in the package's folder of documentation."""
    said = [f"* {control.one_line(one.what, 400)}{' (accepted)' if one.accepted else ''}" for one in made.differences]
    return "\n".join(
        [
            f"{base.name} {base.version} with another build of /{packaging.program}",
            "",
            f"Variant {control.one_line(chosen.variant)} of run {control.one_line(chosen.result.name)}:",
            f"{chosen.gain}.",
            f"Gate: {chosen.row.gate}. Its own programs, messages and scripts are those of {base.name} {base.version}.",
            *([f"FORCED, in spite of: {'; '.join(made.forced)}."] if made.forced else []),
            *(["Symbols were removed; what is loaded is as measured."] if made.stripped else []),
            *([f"/{packaging.settings_file}: paths that Debian's program has compiled in"] if settings else []),
            "",
            "Differences to the program that it replaces:",
            *(said or ["* none was found"]),
            "",
            f"{statements.PROVENANCE_FILE}: how it was made (in-toto statement, SLSA provenance v1)",
            f"{statements.VERDICT_FILE}: what was measured and tested",
            f"{statements.SBOM_FILE}: what is in it (CycloneDX)",
            "",
        ]
    )  # fmt: skip


def ready(asked: str) -> None:
    """Raises a `UserError` where a program that makes packages is missing, before minutes are spent on a comparison.

    Args:
        asked: the verb or option that needs a package, in its user's words.
    """
    missing = [name for name, found in system.find_programs(_TOOLS).items() if found is None]
    if missing:
        command = system.install_command(["dpkg-dev"])
        raise UserError(
            f"{asked}: {' and '.join(missing)} needed to make the .deb, and not here; `{command}`, then again"
        )


def _shared_libraries(program: Path, scratch: Path, bench: Workbench) -> str:
    """What the program needs of other packages, by dpkg-shlibdeps: ``libc6 (>= 2.34), zlib1g (>= 1:1.2.0)``."""
    folder = scratch / "shlibdeps"
    (folder / "debian").mkdir(parents=True, exist_ok=True)
    (folder / "debian/control").write_text("Source: burnish\n\nPackage: burnish\nArchitecture: any\n")
    lines: list[str] = []
    done = bench.run(
        "shlibdeps", ["dpkg-shlibdeps", "-O", f"-e{program}"], cwd=folder, timeout=120, on_line=lines.append
    )
    done.check(f"asking which packages have the libraries of {program}")
    return next((line.partition("=")[2] for line in lines if line.startswith("shlibs:Depends=")), "")


def _files(root: Path) -> Iterable[Path]:
    return (path for path in sorted(root.rglob("*")) if path.relative_to(root).parts[0] != "DEBIAN")


def _add(root: Path, name: str, content: str) -> None:
    """Adds a file with the usual modes, whatever the umask."""
    path = root / name
    for folder in reversed(path.relative_to(root).parents):
        if not (root / folder).exists():
            (root / folder).mkdir()
            (root / folder).chmod(0o755)
    path.write_text(content)
    path.chmod(0o644)


def _md5s(root: Path) -> list[tuple[str, str]]:
    found = []
    for path in _files(root):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as opened:
                digest = hashlib.file_digest(opened, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
            found.append((str(path.relative_to(root)), digest))
    return found


def _installed_kb(root: Path) -> int:
    """Installed-Size as dpkg-gencontrol counts it: files rounded up to KiB, 1 KiB for anything else."""
    return sum(
        -(-path.lstat().st_size // 1024) if path.is_file() and not path.is_symlink() else 1 for path in _files(root)
    )


def _normalise(root: Path, epoch: int) -> None:
    """Gives what was written now the moment of the distribution's program."""
    for path in (*sorted(root.rglob("*"), reverse=True), root):
        if not path.is_symlink() and path.lstat().st_mtime > epoch:
            os.utime(path, (epoch, epoch))
