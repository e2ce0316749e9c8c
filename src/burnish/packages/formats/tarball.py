"""A tar archive with the program, what it needs beside it, provenance and a README; the same each time it is made."""

from __future__ import annotations

import gzip
import io
import shlex
import tarfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from burnish.base.paths import Home
from burnish.builds import configuration
from burnish.packages.chosen import Chosen
from burnish.packages.deb import new_package
from burnish.packages.formats.common import beside, contents, name_of, title_of
from burnish.packages.statements import Made, Subject
from burnish.record.store import DESCRIPTION

_OWN = frozenset({DESCRIPTION, "objects.json", configuration.KEPT, "build.sh", "source.sha256"})
"""Files of a build in the store that are Burnish's own; the provenance says the same."""


def make(_home: Home, chosen: Chosen, made: Made, output: Path) -> tuple[list[Path], list[str]]:
    """Writes the archive; returns (files, lines for the user)."""
    name = name_of(chosen, made.forced)
    file = output / f"{name}.tar.gz"
    program = Subject(chosen.engine.spec.server, chosen.making.sha256)
    texts = {"README": readme(chosen, made), **contents([program], program, chosen, made)}
    moment = int(datetime.fromisoformat(chosen.result.ended or chosen.result.begun).timestamp())
    with (
        new_package(file) as draft,
        draft.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=moment, compresslevel=6) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in _kept(chosen.found.entry.folder):
            inside = f"{name}/{path.relative_to(chosen.found.entry.folder)}"
            member = archive.gettarinfo(path, inside)
            if member.issym():
                archive.addfile(_plain(member, moment))
                continue
            with path.open("rb") as content:
                archive.addfile(_plain(member, moment), content)
        for inside, text in sorted(texts.items()):
            member = tarfile.TarInfo(f"{name}/{inside}")
            member.size = len(text.encode())
            archive.addfile(_plain(member, moment), io.BytesIO(text.encode()))
    unpack = f"tar xzf {shlex.quote(str(file.absolute()))}"
    return [file, *beside(file, chosen, made)], [f"unpack: {unpack}; README in it says how to start it"]


def _kept(folder: Path) -> Iterator[Path]:
    """Files and what leads to them: a library is found by its link. Links out of the folder lead nowhere elsewhere."""
    whole = folder.resolve()
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or str(path.relative_to(folder)) in _OWN:
            continue
        if not path.is_symlink() or (not path.readlink().is_absolute() and path.resolve().is_relative_to(whole)):
            yield path


def _plain(member: tarfile.TarInfo, moment: int) -> tarfile.TarInfo:
    """Without what differs from machine to machine."""
    member.mtime, member.uid, member.gid, member.uname, member.gname = moment, 0, 0, "root", "root"
    member.mode = 0o755 if member.mode & 0o100 else 0o644
    return member


def readme(chosen: Chosen, made: Made) -> str:
    """How to start the program, and what it is."""
    folder = str(chosen.found.entry.folder)
    options = [option.replace(folder, "$PWD") for option in chosen.built.options]
    command = " ".join([f"./{chosen.engine.spec.server}", *(f'"{option}"' for option in options)])
    return "\n".join(
        [
            *title_of(chosen, made),
            f"gate: {chosen.row.gate}",
            f"needs: {chosen.row.needs}",
            "",
            "Start it from this folder, with your own options behind these:",
            f"  {command}",
            "",
            f"SHA-256 of {chosen.engine.spec.server}: {chosen.making.sha256}",
            "",
        ]
    )
