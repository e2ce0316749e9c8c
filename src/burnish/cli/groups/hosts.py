"""The verbs about many hosts: start a scheduler, work for one, list the hosts."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import typer

from burnish import __version__
from burnish.base import paths
from burnish.base.errors import unknown
from burnish.cli import options as o
from burnish.cli import readers
from burnish.cli.binding import VerbGroup
from burnish.cli.common import app, asker, line, print_document, print_json, say, verb
from burnish.cli.config import settings
from burnish.cli.declaration import Argument, Option
from burnish.hosts.host import accepted
from burnish.hosts.place import PORT
from burnish.report.sections import hosts as report
from burnish.study.kept import sharing

ABOUT = "Measure on many hosts: start a scheduler, list the hosts."

hosts = typer.Typer(cls=VerbGroup, rich_markup_mode=None)


@hosts.callback(invoke_without_command=True, help=ABOUT)
def _listed(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None and not ctx.resilient_parsing:
        _list(as_json=False)


app.add_typer(hosts, name="hosts", help=ABOUT, epilog="burnish hosts up --artefacts /mnt/nfs/burnish")

LISTEN = Option(
    "listen", ("--listen",), "Address and port to listen on; workers must reach it.", readers.text, "HOST:PORT",
    unset=f"all addresses, port {PORT}", common=True, panel="Options",
)  # fmt: skip
HOST = Option(
    "name", ("--host",), "What this host is called in lists.", readers.text, "NAME", unset="its host name",
    panel="Options",
)  # fmt: skip
FOR = Option(
    "purpose", ("--for",), "What it does: builds, trials, or both.", readers.text, "WHAT", default="both", common=True,
    panel="Options",
)  # fmt: skip
_PURPOSES = {"builds": (True, False), "trials": (False, True), "both": (True, True)}


@verb(
    "up",
    LISTEN,
    o.ARTEFACTS,
    o.ARTEFACTS_GB,
    o.YES,
    of=hosts,
    example="burnish hosts up --artefacts /mnt/nfs/burnish --artefacts-gb 50",
)
def up(listen: str | None, artefacts: str | None, artefacts_gb: float | None, yes: bool) -> None:
    """Start a scheduler, and say what to do on each machine.

    It speaks TLS only, with certificates of its own that it makes on first use. It runs until it is stopped.
    """
    from burnish.hosts import up as scheduler

    limit = None if artefacts_gb is None else int(artefacts_gb * 1e9)
    scheduler.up(paths.home(), listen, sharing.url_of(artefacts), limit, line, yes=yes, ask=asker())


@verb("list", o.JSON, of=hosts, example="burnish hosts list --json")
def list_hosts(as_json: bool) -> None:
    """List the hosts: kind, cores, compilers, what runs there, calibration, last sitting."""
    _list(as_json=as_json)


def _list(*, as_json: bool) -> None:
    from burnish.hosts.run import present

    reported = present(paths.home())
    good, refused = accepted(reported, __version__)
    if as_json:
        print_json("hosts", [host.as_dict() for host in good])
    else:
        print_document(report.hosts([host.as_dict() for host in good]))
    for reason in refused:
        say(reason)


@verb(
    "worker",
    Argument("address", "ADDRESS", "The scheduler's, as `burnish hosts up` prints it."),
    HOST,
    FOR,
    replace(o.ARTEFACTS, unset="as `burnish hosts up` said"),
    example="burnish worker tls://192.0.2.1:8786 --for builds",
)
def worker(address: str, name: str | None, purpose: str, artefacts: str | None) -> None:
    """Let this machine build and measure for a scheduler.

    It does one thing at a time, goes on after a lost connection, and runs until it is stopped. Results are in this
    machine's own records first.
    """
    from burnish.hosts import worker as workers

    if purpose not in _PURPOSES:
        raise unknown("--for", purpose, _PURPOSES)
    builds, benches = _PURPOSES[purpose]
    workers.work(paths.home(), address, _call, say, name=name, builds=builds, benches=benches, store=artefacts)


def _call(words: Sequence[str]) -> None:
    """Reads words as a command of this program, in this process."""
    with _as_typed(words), settings.repeating():
        app(args=["--config", settings.NONE, *words], prog_name="burnish", standalone_mode=False)


@contextlib.contextmanager
def _as_typed(words: Sequence[str]) -> Iterator[None]:
    before = sys.argv
    sys.argv = [before[0], *words]
    try:
        yield
    finally:
        sys.argv = before
