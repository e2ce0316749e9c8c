"""A worker: connects this host to a scheduler, and does the jobs that come, one at a time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console

from burnish.base import storage
from burnish.base.errors import OF_THE_HOST, BusyError, HostError, InfrastructureError, UserError
from burnish.base.paths import Home
from burnish.bench.host import read_host
from burnish.hosts import desk, part
from burnish.hosts.about import calibrated, describe, last_sitting, own_name
from burnish.hosts.carried import laid
from burnish.hosts.host import Host, name_of
from burnish.hosts.jobs import Answer, Job
from burnish.hosts.place import Joined, alone, folder, read_joined, write_joined
from burnish.hosts.shelf import ShelfFailed

Call = Callable[[Sequence[str]], None]
"""Reads words as a command of this program, in this process."""

AGAIN_S = 5.0
"""Wait before connecting again."""


def work(
    home: Home,
    address: str,
    call: Call,
    say: Callable[[str], None],
    *,
    name: str | None = None,
    builds: bool = True,
    benches: bool = True,
    store: str | None = None,
) -> None:
    """Works for a scheduler until it is stopped; connects again whenever the connection breaks.

    Args:
        home: this host's home.
        address: the scheduler's.
        call: reads the command of a study.
        say: prints a line.
        name: what the host is called; None: its host name.
        builds: whether it makes builds.
        benches: whether it measures.
        store: where artefacts are, if not where `burnish hosts up` said (a folder that is mounted elsewhere here).

    Raises:
        UserError: the address or the name is wrong, certificates are missing, or another worker runs in this home.
    """
    from burnish.hosts import plumbing  # noqa: PLC0415 - Dask

    name = name_of(name, own_name())
    plumbing.checked(address)
    plumbing.security(home)
    with alone(home, "worker"):
        joined = read_joined(home)
        write_joined(home, replace(joined, address=address) if joined is not None else Joined(address))
        host = describe(home, name, builds=builds, benches=benches)
        say(f"{host.name}: {host.kind}, {host.cores} cores, {host.work}; Burnish {host.version} in {host.home}")
        link = threading.Thread(target=_linked, args=(home, host, address, say), daemon=True)
        link.start()
        while True:
            if desk.desk.serve(lambda job: do(home, _at(job, store), call, say)):
                _tell_of(home)


def _at(job: Job, store: str | None) -> Job:
    """The job with the place of artefacts as this host knows it."""
    return replace(job, store=store) if store is not None and job.store is not None else job


def do(home: Home, job: Job, call: Call, say: Callable[[str], None]) -> Answer:
    """Does a job: reads its command, and takes this host's part of it; its progress is logged."""
    place = folder(home) / "logs"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    log = place / f"{job.key}.log"
    say(f"{time.strftime('%H:%M:%S')} {job.title} (log: {log})")
    with log.open("a") as file:
        part.current.job, part.current.console = job, Console(file=file, width=120)
        try:
            call(laid(home, job.command))
        except part.Finished as finished:
            answer = finished.answer
        except ShelfFailed as error:
            answer = Answer(problem=str(error), again=True)
        except BusyError as error:  # somebody else works on this machine
            answer = Answer(problem=str(error), again=True, busy=True)
        except UserError as error:
            answer = Answer(problem=str(error))
        except InfrastructureError as error:
            answer = Answer(problem=error.explain())
        except HostError as error:  # no room here: it may be freed, and another host may have some
            answer = Answer(problem=error.explain(), again=True)
        except OSError as error:
            if error.errno not in OF_THE_HOST:
                raise
            answer = Answer(problem=f"{error.filename or home.root}: {error.strerror}", again=True)
        else:
            answer = Answer(problem="the command measures nothing that hosts could share")
        finally:
            part.current.job = part.current.console = None
            storage.release()  # a session that ended in an error leaves its data in memory to the end of the process
        if answer.problem:
            file.write(f"{answer.problem}\n")
    say(f"{time.strftime('%H:%M:%S')} {job.title}: {answer.problem.splitlines()[0] if answer.problem else 'done'}")
    return answer


_state: dict[str, str] = {}


def _tell_of(home: Home) -> None:
    """Reads what may have changed on this host; not while something is measured."""
    facts = read_host(home.root, home=home.root)
    _state["calibration"], _state["sitting"] = calibrated(home, facts), last_sitting(home)


def _linked(home: Home, host: Host, address: str, say: Callable[[str], None]) -> None:
    """Stays connected to the scheduler; what is being done goes on meanwhile."""
    from burnish.hosts import plumbing  # noqa: PLC0415

    said = ""

    def about() -> dict[str, Any]:
        return {**host.as_dict(), **_state, "running": desk.desk.running, "doing": desk.desk.doing}

    def connected() -> None:
        nonlocal said
        said = ""
        say(f"{time.strftime('%H:%M:%S')} connected to {address}")

    while True:
        why = f"{address}: no connection"
        with contextlib.suppress(Exception):  # whatever Dask raises, the answer is the same
            try:
                plumbing.run(plumbing.work(home, address, host.name, about, connected))
            except UserError as error:  # another worker has its name, or its certificates are not valid by its clock
                why = str(error)
        if why != said:
            said = why
            say(f"{time.strftime('%H:%M:%S')} {why}; trying again every {AGAIN_S:.0f} s")
        time.sleep(AGAIN_S)
