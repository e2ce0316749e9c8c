"""The scheduler: started on one machine, found by the others."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.hosts import tls
from burnish.hosts.place import PORT, Joined, alone, join_folder, write_joined
from burnish.hosts.shelf import share_folder


def up(
    home: Home,
    listen: str | None,
    store: str | None,
    limit: int | None,
    line: Callable[[str], None],
    *,
    yes: bool = False,
    ask: Callable[[str], bool] | None = None,
) -> None:
    """Runs a scheduler until it is stopped.

    Args:
        home: has the certificates, or gets them.
        listen: ``HOST:PORT``; None: all addresses and the usual port.
        store: where artefacts are shared; None: nowhere.
        limit: bytes that they may take there.
        line: prints a line.
        yes: install what makes certificates without asking where it is missing.
        ask: asks the user; None if nobody can answer.

    Raises:
        UserError: it can't listen there, a scheduler runs in this home already, or nobody could share anything there.
    """
    from burnish.hosts import plumbing  # noqa: PLC0415 - Dask

    host, port = address_of(listen)
    store = str(Path(store).expanduser().resolve()) if store is not None and "://" not in store else store
    if store is not None:
        share_folder(store, limit)  # one that no host could open is refused before it is written down

    def ready(address: str) -> None:
        write_joined(home, Joined(address, store, limit))
        for text in instructions(home, address, store):
            line(text)
        if plumbing.is_for_this_machine(address):
            line("only this machine reaches that address; name one of it that others reach: --listen HOST:PORT")

    with alone(home, "scheduler"):
        tls.make(home, yes=yes, ask=ask)
        with contextlib.suppress(KeyboardInterrupt):
            plumbing.run(plumbing.serve(home, host, port, ready))


def address_of(listen: str | None) -> tuple[str, int]:
    """Host ('' for all addresses) and port of ``HOST:PORT``.

    Raises:
        UserError: it is something else.
    """
    if listen is None:
        return "", PORT
    host, _, port = listen.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise UserError(f"--listen {listen}: found no port; give HOST:PORT, as in 192.0.2.1:{PORT}")
    return host, int(port)


def instructions(home: Home, address: str, store: str | None) -> list[str]:
    """What to do on each machine, in lines."""
    place = join_folder(home)
    return [
        f"scheduler: {address}, for whoever has the certificates in {place}",
        f"builds are shared at {store}" if store else "builds are not shared (--artefacts): every host makes its own",
        "on each machine that takes part, once:",
        f"  mkdir -p -m 700 {shlex.quote(str(place.parent))}",
        f"  scp -pr THIS-MACHINE:{shlex.quote(str(place))} {shlex.quote(str(place.parent))}/",
        "and then, until it is stopped:",
        f"  burnish worker {address}",
    ]
