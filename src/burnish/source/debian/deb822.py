"""Reads Debian's control format: .dsc files, source indexes, apt's .sources files (man 5 deb822)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from burnish.base.errors import InfrastructureError


@dataclass(frozen=True)
class RemoteFile:
    """A file in the signed index or a .dsc: name, size in bytes, hex SHA-256."""

    name: str
    size: int
    sha256: str


def paragraphs(text: str) -> Iterator[dict[str, str]]:
    """The paragraphs of `text`, keys in lower case; the armour of a clear-signed file is skipped.

    Continuation lines keep their line breaks and lose their first space; comment lines are skipped.
    """
    if text.startswith("-----BEGIN PGP SIGNED MESSAGE-----"):
        text = text.partition("\n\n")[2].partition("\n-----BEGIN PGP SIGNATURE-----")[0]
    fields: dict[str, str] = {}
    key = ""
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if fields:
                yield fields
            fields, key = {}, ""
        elif line[0] in " \t":
            if key:
                fields[key] += "\n" + line[1:]
        else:
            name, _, value = line.partition(":")
            key = name.strip().lower()
            fields[key] = value.strip()


def files_of(fields: Mapping[str, str], where: str) -> tuple[RemoteFile, ...]:
    """The files of a ``Checksums-Sha256`` field.

    Raises:
        InfrastructureError: the field is missing, malformed, or names a file in another folder.
    """
    files = []
    for line in fields.get("checksums-sha256", "").split("\n"):
        words = line.split()
        if not words:
            continue
        if len(words) != 3 or not words[1].isdigit() or "/" in words[2] or words[2] in {".", ".."}:
            raise InfrastructureError(f"{where}: its Checksums-Sha256 has a line that makes no sense: {line!r}")
        files.append(RemoteFile(words[2], int(words[1]), words[0].lower()))
    if not files:
        raise InfrastructureError(f"{where}: it lists no SHA-256 checksums, so nothing of it can be verified")
    return tuple(files)
