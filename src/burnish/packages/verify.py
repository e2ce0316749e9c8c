"""Checks a package that was made by `burnish package`: digests, statements, signature."""

from __future__ import annotations

import gzip
import json
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from burnish.base import process
from burnish.base.errors import UserError
from burnish.base.files import remove_tree, sha256_of
from burnish.packages import signing, statements
from burnish.packages.control import one_line
from burnish.source.archives import extract_all
from burnish.source.debian import binary

_ARCHIVE = ".tar.gz"


@dataclass(frozen=True)
class Checked:
    """What was found right with a package.

    Attributes:
        file: the package.
        root: where it is unpacked.
        program: the program in it.
        engine: the program's engine.
        source: name, version and kind of its source.
        base: name and version of the distribution's package that it replaces; None: of none.
        provenance: its provenance.
        verdict: its verdict.
        lines: what was checked, a line each.
    """

    file: Path
    root: Path
    program: Path
    engine: str
    source: tuple[str, str, str]
    base: tuple[str, str] | None
    provenance: Mapping[str, Any]
    verdict: Mapping[str, Any]
    lines: tuple[str, ...]


def exists(file: Path) -> None:
    """Raises a `UserError` where there is no such file."""
    if not file.is_file():
        raise UserError(f"{file}: there is no such file; name a .deb or {_ARCHIVE} of `burnish package`")


def check(file: Path, root: Path, key: Path | None) -> Checked:
    """Unpacks a package into the folder `root` and checks it; what is wrong is a `UserError` in one line.

    Raises:
        UserError: it is no such package, was changed, or its statements are about something else.
    """
    exists(file)
    remove_tree(root)
    root.mkdir(parents=True)
    lines = [f"signature: {signing.check(file, key, root)}"]
    digest = sha256_of(file)
    beside = _beside(file, digest)
    inner = _unpacked(file, root)
    provenance, verdict = (_statement(inner, file, kind) for kind in (statements.SLSA, statements.VERDICT))
    subjects = statements.subjects_of(provenance)
    if not subjects or subjects != statements.subjects_of(verdict):
        raise UserError(f"{file}: its provenance and its verdict are not about the same program")
    program = _place(inner, subjects[0].name, file)
    found = sha256_of(program)
    name = one_line(subjects[0].name)  # a stranger's words could command the terminal, here and below
    if found != subjects[0].sha256:
        about = one_line(subjects[0].sha256)
        raise UserError(f"{file}: its program {name} has SHA-256 {found}, its provenance is about {about}")
    lines.append(f"program: {name} is the one of provenance and verdict (sha256:{found})")
    built = _dig(provenance, "predicate", "buildDefinition")
    measured = one_line(str(_dig(built, "internalParameters").get("measured")))
    if measured == found:
        lines.append("program: byte for byte the one that was measured")
    elif _dig(built, "internalParameters").get("stripped"):
        lines.append(f"program: the measured one (sha256:{measured}) without its symbols")
    else:
        raise UserError(f"{file}: its program is not the measured one (sha256:{measured})")
    for path, digests in beside.items():
        if digests and subjects[0].sha256 not in digests:
            raise UserError(f"{path}: not about the program in {file.name} (sha256:{found}); it was changed")
        about = f"about this file (sha256:{digest[:16]}…)" if digests else "not beside it"
        lines.append(f"{path.name}: {about}")
    lines += _sums(inner, file)
    said = _dig(verdict, "predicate")
    study, variant, host = (one_line(str(said.get(name) or "?"), 300) for name in ("run", "variant", "host"))
    lines.append(f"study: variant {variant} of {study}, measured on {host}")
    forced = said.get("forced")
    lines += [
        f"FORCED, in spite of: {one_line(str(text), 300)}" for text in (forced if isinstance(forced, list) else ())
    ]
    base = next(
        (
            (str(one.get("name")), _version_of(one))
            for one in built.get("resolvedDependencies") or ()
            if isinstance(one, dict) and _dig(one, "annotations").get("role") == "repackaged"
        ),
        None,
    )
    asked = _dig(built, "externalParameters")
    source = asked.get("source")
    words = [str(word) for word in source] if isinstance(source, list) else []
    source_name, version, kind = words if len(words) == 3 else ("", "", "")
    engine = str(asked.get("engine", ""))
    return Checked(file, inner, program, engine, (source_name, version, kind), base, provenance, verdict, tuple(lines))


def _unpacked(file: Path, root: Path) -> Path:
    """Unpacks a package; returns the folder with its files."""
    if file.name.endswith(".deb"):
        return binary.unpack(binary.read(file), root / "files", control=True)
    try:
        with tarfile.open(file, "r:gz") as archive:
            (root / "files").mkdir()
            extract_all(archive, root / "files", file)
        with gzip.open(file) as packed:  # a tar archive ends where it makes no more sense; only this reads its checksum
            while packed.read(1 << 20):
                pass
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise UserError(f"{file}: neither a .deb nor a whole {_ARCHIVE} ({one_line(str(error), 100)})") from None
    inside = [path for path in (root / "files").iterdir() if path.is_dir()]
    if len(inside) != 1:
        raise UserError(
            f"{file}: not an archive of `burnish package`: it has {len(inside)} folders, and one is expected"
        )
    return inside[0]


def _statement(root: Path, file: Path, kind: str) -> dict[str, Any]:
    """The statement of a kind in an unpacked package."""
    name = statements.PROVENANCE_FILE if kind == statements.SLSA else statements.VERDICT_FILE
    for path in sorted(root.rglob(name)):
        try:
            value = json.loads(path.read_text())
        except (OSError, ValueError, RecursionError):
            continue
        if (
            isinstance(value, dict)
            and value.get("_type") == statements.STATEMENT
            and value.get("predicateType") == kind
        ):
            return value
    raise UserError(f"{file}: no {name} in it, or none that can be read; was it made by `burnish package`?")


def _place(root: Path, name: str, file: Path) -> Path:
    """A file of the package by the name that a statement gives it; one outside the package is refused."""
    path = root / name
    if not path.resolve().is_relative_to(root.resolve()) or path.is_symlink() or not path.is_file():
        raise UserError(f"{file}: its provenance is about {name!r}, which is no file in it")
    return path


def _beside(file: Path, digest: str) -> dict[Path, set[str]]:
    """The statements beside a package, each with the digests that it is about; none for one that is not there.

    Raises:
        UserError: one can't be read, or is not about this file: then it is not even unpacked.
    """
    found: dict[Path, set[str]] = {}
    for name in (statements.PROVENANCE_FILE, statements.VERDICT_FILE):
        path = file.with_name(f"{file.name}.{name}")
        found[path] = set()
        if not path.is_file():
            continue
        try:
            found[path] = {subject.sha256 for subject in statements.subjects_of(json.loads(path.read_text()))}
        except (OSError, ValueError, AttributeError, RecursionError):
            raise UserError(f"{path}: not a statement that can be read") from None
        if digest not in found[path]:
            raise UserError(
                f"{path}: it is not about this file (sha256:{digest}); the package or the statement was changed"
            )
    return found


def _sums(root: Path, file: Path) -> Iterator[str]:
    """Checks the package's own list of checksums."""
    listed = root / "DEBIAN/md5sums"
    if listed.is_file():
        done = process.run(["md5sum", "--check", "--quiet", "--strict", listed], cwd=root, timeout=300)
        if not done.ok:
            raise UserError(
                f"{file}: not all files in it have the checksums that it lists: {one_line(done.output.strip(), 200)}"
            )
        yield f"checksums: all {len(listed.read_text().splitlines())} files are as the package lists them"


def _version_of(repackaged: Mapping[str, Any]) -> str:
    """Version of the distribution's package; statements of older packages have it in the package URL alone."""
    version = _dig(repackaged, "annotations").get("version")
    return str(version) if version else unquote(str(repackaged.get("uri", "")).rpartition("@")[2])


def _dig(value: Any, *names: str) -> dict[str, Any]:
    """A part of a JSON object; empty where it is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
