"""A user's own data as a dataset: a copied data folder or a loaded dump; the originals are only read."""

from __future__ import annotations

import bz2
import fcntl
import gzip
import hashlib
import lzma
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.base.workbench import Workbench
from burnish.model.workload import Workload
from burnish.workload.conditions import plain, without_affix

if TYPE_CHECKING:
    from burnish.engines.mysql_family.server import Server

EVENTS = "event_scheduler"
_SYSTEM = {"mysql", "performance_schema", "information_schema", "sys"}
_USE = re.compile(rb"(?:^|;[ \t]*)USE (?:`([^`]+)`|([^`;\s]+))\s*;", re.MULTILINE | re.IGNORECASE)
_ENCODED = re.compile(r"@([0-9a-f]{4})")
_HEAD = 1 << 20
_LISTED = re.compile(rb"(?:\.ib[du]|undo_\d{3})(?=id=\d|\0\0)")
"""The end of a file's name in MySQL's dictionary: its properties or the number of its tablespace follow. In the texts
of the manual, which the dictionary has too, other characters do."""
_LONGEST = 1536  # bytes of a file's name in the dictionary
_TABLES = {".frm", ".ibd"}  # MySQL since 8.0 has no .frm files
_PACKED: Mapping[str, Callable[[Path, str], Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
_BROKEN = (OSError, EOFError, lzma.LZMAError, zlib.error)


def identity(place: Path, wanted: str | None = None) -> str:
    """A digest of a dump's bytes, or of a data folder's files by name, size and time of change.

    A dump that names no database goes into the one that is `wanted` (see `database_of`): other data for each.

    Raises:
        UserError: there is nothing at `place`, or nothing that can be used.
    """
    if place.is_file():
        if b"\0" in _head(place):
            forms = ", ".join(f".sql{suffix}" for suffix in ("", *_PACKED))
            raise UserError(f"--data {place}: no dump, which is text; give one ({forms}) or a data folder")
        with place.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
        return digest if databases(place) else digest_of([digest, database_of(place, wanted)])
    if not place.is_dir():
        raise UserError(f"--data {place}: there is no such thing; give a dump (.sql, packed or not) or a data folder")
    check_folder(place)
    facts = [(str(path.relative_to(place)), path.stat()) for path in sorted(place.rglob("*")) if path.is_file()]
    return digest_of([[name, fact.st_size, fact.st_mtime_ns] for name, fact in facts])


def check_folder(place: Path) -> None:
    """A `UserError` when `place` is no data folder, is in use, or has parts elsewhere that a server would write to."""
    system = place / "ibdata1"
    try:
        for path in place.rglob("*"):
            if path.is_symlink() or path.suffix == ".isl":
                raise _leads_out(place, f"{path.relative_to(place)} leads")
        if outside := next(_listed_elsewhere(place / "mysql.ibd"), None):
            raise _leads_out(place, f"{outside} is a part of it that mysql.ibd names; it leads")
        with system.open("rb") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        raise UserError(f"--data {place}: no ibdata1 in it, so no data folder of a server with InnoDB") from None
    except PermissionError as error:
        raise UserError(f"--data {place}: {error.filename or system} can't be read; run as a user who may") from None
    except BlockingIOError:
        raise UserError(
            f"--data {place}: a server is running on it, so a copy would be torn; stop it, or give a dump"
        ) from None


def _leads_out(place: Path, what: str) -> UserError:
    return UserError(
        f"--data {place}: {what} out of the folder, and a server on the copy would write to the original; move the "
        "table into the folder, or give a dump"
    )


def _listed_elsewhere(dictionary: Path) -> Iterator[Path]:
    """Files with an absolute path in the dictionary of MySQL 8 and newer (``mysql.ibd``), which has no ``.isl`` files.

    Only those that are there: dropped tables stay in the dictionary's pages, and what is not there is not written to.
    Any byte may precede a name, so that each of its ends that begins with a slash is tried.
    """
    content = dictionary.read_bytes() if dictionary.is_file() else b""
    for end in _LISTED.finditer(content):
        text = re.split(rb"[\0-\x1f]", content[max(0, end.start() - _LONGEST) : end.end()])[-1]
        for slash in re.finditer(rb"/", text):
            if os.path.isfile(path := text[slash.start() :]):  # noqa: PTH113 - bytes
                yield Path(os.fsdecode(path))


def named(folder: str) -> str:
    """The database that a server keeps in a folder of that name: ``my@002dapp`` is ``my-app``.

    A server writes characters other than ASCII letters, digits and ``_`` as ``@`` and their number in four hexadecimal
    digits ("Mapping of Identifiers to File Names" in the manual of MySQL); its two-letter codes for letters with
    accents stay as they are.
    """
    return _ENCODED.sub(lambda match: chr(int(match[1], 16)), folder)


def databases(place: Path) -> list[str]:
    """The databases named in a dump or data folder; sorted."""
    if place.is_dir():
        return sorted(named(path.name) for path in place.iterdir() if path.is_dir() and _holds_tables(path))
    names = (quoted or bare for quoted, bare in _USE.findall(_head(place)))
    return sorted({name.decode(errors="replace") for name in names} - _SYSTEM)


def _holds_tables(folder: Path) -> bool:
    return folder.name not in _SYSTEM and any(path.suffix in _TABLES for path in folder.iterdir())


def _opened(place: Path) -> IO[bytes]:
    unpack = _PACKED.get(place.suffix)
    file: IO[bytes] = unpack(place, "rb") if unpack else place.open("rb")
    return file


def _head(place: Path) -> bytes:
    """The beginning of a dump, unpacked; a `UserError` when it can't be read."""
    try:
        with _opened(place) as file:
            return file.read(_HEAD)
    except _BROKEN as error:
        raise _unreadable(place, error) from None


def _unreadable(place: Path, error: Exception) -> UserError:
    why = getattr(error, "strerror", None) or str(error)
    return UserError(f"--data {place}: can't be read ({why}); give a whole dump that you may read")


def size(data: Path, database: str) -> int:
    """Bytes of the InnoDB tables of a database in a data folder."""
    folders = (path for path in data.iterdir() if path.is_dir() and named(path.name) == database)
    return sum(path.stat().st_size for folder in folders for path in folder.glob("*.ibd"))


def database_of(place: Path, wanted: str | None) -> str:
    """The database that a load works in: the one that is wanted, or the only one there is.

    Raises:
        UserError: there are several and none is named, or the named one does not exist.
    """
    names = databases(place)
    if wanted is not None:
        if place.is_dir() and wanted not in names:
            raise UserError(f"--database {wanted}: not in {place}; there are: {', '.join(names) or 'none'}")
        return wanted
    if len(names) > 1 or (not names and place.is_dir()):
        raise UserError(f"--data {place}: it holds {len(names)} databases ({', '.join(names)}); name one in --database")
    return names[0] if names else "sbtest"


def without_events(workload: Workload, settings: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Settings for a server on a load's data; on a user's, its event scheduler is off unless they name it.

    Events in a user's data (MySQL runs them by default) would change the data while they are made and measured, on each
    side at another moment.
    """
    named = {without_affix(plain(name)) for name, _ in settings}
    return settings if not workload.own_data or EVENTS in named else (*settings, (EVENTS, "OFF"))


def copy_folder(place: Path, target: Path, bench: Workbench) -> None:
    """Copies a data folder into the empty folder `target` (by reflink where the file system can)."""
    check_folder(place)
    done = bench.run("copy data", ["cp", "-a", "--reflink=auto", f"{place}/.", target], timeout=3600)
    done.check(f"copying {place}")
    target.chmod(0o700)


def load_dump(place: Path, server: Server, database: str, clients: Sequence[str], bench: Workbench) -> None:
    """Feeds a dump to a server with its own client.

    Args:
        place: the dump.
        server: where it goes.
        database: the one to make if the dump names none.
        clients: paths and names of clients, the best first.
        bench: recorded processes.

    Raises:
        UserError: no client is here.
        InfrastructureError: the client failed (its log has line and reason).
    """
    client = next((path for name in clients if (path := shutil.which(name))), None)
    if client is None:
        raise UserError(
            f"--data {place}: loading a dump takes the server's client, which is not here; "
            "`apt-get install mariadb-client`, or give a data folder"
        )
    plain = place
    if place.suffix in _PACKED:
        plain = server.launch.folder / "dump.sql"
        try:
            with _opened(place) as packed, plain.open("wb") as out:
                shutil.copyfileobj(packed, out)
        except _BROKEN as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk's, not the dump's
            raise _unreadable(place, error) from None
    into = [] if databases(place) else [database]  # otherwise the dump names its database
    for name in into:
        server.query(f"CREATE DATABASE `{name}`")
    words = [client, "--no-defaults", f"--socket={server.socket}", "--user=root", *into]
    bench.run("load dump", words, stdin_file=plain, timeout=7200).check(f"loading {place}")
