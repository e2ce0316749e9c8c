"""Folders and files of the hosts' work in Burnish's home.

``hosts/join`` has what a machine needs to take part: the scheduler's address, the certificates, where artefacts are.
It is made by `burnish hosts up`, and copied to each machine by its owner.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.files import held, read_json, write_json
from burnish.base.paths import Home

PORT = 8786
"""The scheduler's port unless another is named: Dask's usual one."""

JOIN = "join"
ADDRESS = "address.json"


@dataclass(frozen=True)
class Joined:
    """What a machine knows about the scheduler.

    Attributes:
        address: the scheduler's, ``tls://HOST:PORT``.
        store: where artefacts are shared, as `open_artefacts` takes it; None: nowhere, every host builds for itself.
        limit: bytes that they may take there; None: no limit.
    """

    address: str
    store: str | None = None
    limit: int | None = None


class Rooms(Home):
    """The home of builds that are made for others: runs of its own, so that none is taken for a run of the user's."""

    @property
    def studies(self) -> Path:
        """Folders with records of builds made for others."""
        return folder(self) / "builds"


def folder(home: Home) -> Path:
    """The folder of the hosts' work."""
    return home.root / "hosts"


def join_folder(home: Home) -> Path:
    """The folder that is copied to each machine."""
    return folder(home) / JOIN


def write_joined(home: Home, joined: Joined) -> None:
    """Writes what machines need to know."""
    place = join_folder(home)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(place / ADDRESS, asdict(joined))


def read_joined(home: Home) -> Joined | None:
    """What this machine knows about the scheduler; None if nothing.

    Raises:
        UserError: the file is not what `burnish hosts up` writes.
    """
    path = join_folder(home) / ADDRESS
    if not path.is_file():
        return None
    try:
        return Joined(**read_json(path))  # type: ignore[arg-type]
    except TypeError:
        raise UserError(f"{path}: not written by this Burnish; copy the folder {path.parent} again") from None


@contextlib.contextmanager
def alone(home: Home, what: str) -> Iterator[None]:
    """Holds a place in the home that one process may have: one scheduler, one worker.

    Raises:
        UserError: another process has it.
    """
    place = folder(home)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    with held(
        place / f"{what}.lock",
        lambda process: (
            f"a {what} (process {process}) is running in this home already; stop it, or name another home in "
            "BURNISH_HOME"
        ),
    ):
        yield


@dataclass(frozen=True)
class Campaign:
    """One run of a study on many hosts, as the machine knows it that asked for it.

    Attributes:
        path: its file.
        name: part of the keys of its tasks.
        resumed: whether an earlier call began it.
        runs: runs of this home that calls of it have left.
        open: hosts that have not finished their part, as the calls so far know.
        fresh: whether its first call was to begin new runs: hosts that hear of it later only begin theirs then.
    """

    path: Path
    name: str
    resumed: bool
    runs: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    fresh: bool = False

    def noting(self, *runs: str, open_hosts: Iterable[str] | None = None) -> Campaign:
        """The same with these runs, also for later calls; with these open hosts, if any are given."""
        still = self.open if open_hosts is None else tuple(dict.fromkeys(open_hosts))
        noted = replace(self, runs=tuple(dict.fromkeys(runs)), open=still)
        noted.write()
        return noted

    def write(self) -> None:
        """Writes it for later calls."""
        values = {"name": self.name, "runs": list(self.runs), "open": list(self.open), "fresh": self.fresh}
        write_json(self.path, values)

    def close(self) -> None:
        """Ends it: the same command begins another one."""
        self.path.unlink(missing_ok=True)


def campaign(home: Home, digest: str, *, fresh: bool) -> Campaign:
    """The run of the study with this digest that is not finished, or a new one.

    Args:
        home: where it is kept.
        digest: of the request, with the hosts that it names.
        fresh: whether a new one is begun in any case.
    """
    place = folder(home) / "campaigns"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = place / f"{digest}.json"
    known = read_json(path)
    if isinstance(known.get("name"), str) and not fresh:
        runs, late = _words(known.get("runs")), _words(known.get("open"))
        return Campaign(path, str(known["name"]), True, runs, late, fresh=known.get("fresh") is True)
    begun = Campaign(path, f"{digest[:8]}-{secrets.token_hex(4)}", resumed=False, fresh=fresh)
    begun.write()
    return begun


def _words(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
