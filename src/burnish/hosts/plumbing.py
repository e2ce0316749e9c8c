"""Dask distributed, as Burnish uses it: to find hosts, to send them tasks, and to notice that they are gone.

Dask keeps no state for us and decides nothing: `burnish.hosts.dispatch` says which task goes where. Imported only when
hosts are used, as nothing else needs Dask.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.hosts import tls
from burnish.hosts.dispatch import Work
from burnish.hosts.underway import work_of

RESOURCE = "bench"


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise UserError(
            f"many hosts: needs the package {name}, which is not installed; `pip install 'burnish[hosts]'` adds it, "
            "or leave --hosts out"
        ) from None


dask, distributed = _imported("dask"), _imported("distributed")

HEARTBEAT_S = 5.0
"""Time between two heartbeats of a worker. Dask's own for few workers is 0.5 s, which is 0.3 % of a core on a host that
measures."""
QUIET_S = 20.0
"""The same of a host while trials run on it: its own threads have next to nothing to do then."""
CALLS = 4
"""Calls that a worker waits for at a time. One task holds the resource; beside it others are asked how they would
build, which they answer while they are at work."""
NOT_NEEDED = ("find-missing", "shift_counters")
"""What a worker of Dask's does every second or five: look for results that tasks wait for, which ours do not, and count
for web pages that are off."""
EVERYWHERE = {"": socket.AF_INET, "0.0.0.0": socket.AF_INET, "::": socket.AF_INET6, "[::]": socket.AF_INET6}  # noqa: S104
"""What a scheduler listens on that listens on all of this machine's addresses, and the family of these."""
GONE_S = 60.0
"""Seconds without a heartbeat after which a host counts as gone."""

dask.config.set(
    {
        "distributed.scheduler.work-stealing": False,
        "distributed.scheduler.allowed-failures": 0,
        "distributed.scheduler.worker-ttl": f"{GONE_S:.0f}s",
        "distributed.scheduler.active-memory-manager.start": False,
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
        "distributed.worker.profile.enabled": False,
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": False,
        "distributed.worker.memory.monitor-interval": "60s",
        "distributed.admin.tick.interval": "60s",
        "distributed.admin.tick.limit": "10m",
        "distributed.admin.tick.cycle": "60s",
        "distributed.admin.system-monitor.interval": "60s",
        "distributed.admin.system-monitor.gil.enabled": False,
        "distributed.diagnostics.nvml": False,
        "distributed.comm.timeouts.connect": "20s",
        "distributed.comm.timeouts.tcp": f"{GONE_S:.0f}s",
        "distributed.deploy.lost-worker-timeout": "1s",
    }
)
for _name in ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict):  # some have levels of their own
    if _name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
        logging.getLogger(_name).setLevel(logging.CRITICAL)
# That there is no way to the internet, or another patch release of Python somewhere, is no trouble: see `outward`.
warnings.filterwarnings("ignore", module=r"distributed\.")


def security(home: Home) -> Any:
    """TLS with the certificates of this home."""
    place = tls.check(home)
    own = {
        f"tls_{role}_{part}": str(place / name)
        for role in ("client", "worker", "scheduler")
        for part, name in (("cert", tls.CERTIFICATE), ("key", tls.KEY))
    }
    return distributed.Security(tls_ca_file=str(place / tls.AUTHORITY), require_encryption=True, **own)


def checked(address: str) -> str:
    """The address of a scheduler.

    Raises:
        UserError: it is no address, or one without TLS that other machines can reach.
    """
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("tls", "tcp") or not parts.hostname or port is None:
        raise UserError(f"{address}: not a scheduler's address; `burnish hosts up` prints it: tls://HOST:PORT")
    if parts.scheme == "tcp":
        raise UserError(
            f"{address}: without TLS anyone who reaches it could run programs here; take the address that "
            "`burnish hosts up` prints, which begins with tls://"
        )
    return address


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_for_this_machine(address: str) -> bool:
    """Whether only this machine reaches a scheduler's address."""
    return is_loopback(urlsplit(address).hostname or "")


def outward(address: str, own: Iterable[str]) -> str:
    """The address of a scheduler that listens everywhere, as other machines reach it.

    Args:
        address: as Dask has it: of the interface to the internet; without one, the loopback's.
        own: this machine's addresses.
    """
    others = [each for each in own if not is_loopback(each)]
    if not others or not is_for_this_machine(address):
        return address
    parts = urlsplit(address)
    return f"{parts.scheme}://{f'[{others[0]}]' if ':' in others[0] else others[0]}:{parts.port}"


def reached(address: str, host: str) -> str:
    """The address of a scheduler as other machines reach it.

    Args:
        address: as Dask has it.
        host: what it listens on.
    """
    return outward(address, own_addresses(EVERYWHERE[host])) if host in EVERYWHERE else address


def own_addresses(family: int) -> list[str]:
    """This machine's addresses of a family, those of one link only last, and none that needs an interface's name."""
    interfaces = import_module("psutil").net_if_addrs()
    own = [one.address for each in interfaces.values() for one in each if one.family == family]
    plain = [address for address in own if "%" not in address]
    return sorted(plain, key=lambda address: ipaddress.ip_address(address).is_link_local)


async def serve(home: Home, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Runs a scheduler until it is cancelled.

    Args:
        home: with the certificates.
        host: address to listen on; '' for all.
        port: port to listen on.
        ready: called with its address when it listens.

    Raises:
        UserError: the address can't be listened on.
    """
    module: Any = import_module("distributed.scheduler")
    module.heartbeat_interval = lambda _workers: HEARTBEAT_S  # no option has it
    try:
        scheduler = await distributed.Scheduler(
            host=host or None,
            port=port,
            protocol="tls",
            security=security(home),
            dashboard=False,
            dashboard_address="127.0.0.1:0",
        )
    except (OSError, RuntimeError) as error:  # Dask wraps what the system said
        why = getattr(error.__cause__ or error, "strerror", None) or error
        raise UserError(f"--listen {host}:{port}: cannot listen there ({why}); name another address or port") from None
    beat = scheduler.handlers["heartbeat_worker"]
    scheduler.handlers["heartbeat_worker"] = lambda **about: slowed(beat(**about), about["metrics"])
    try:
        ready(reached(scheduler.address, host))
        await scheduler.finished()
    finally:
        await scheduler.close()


def slowed(answer: dict[str, Any], metrics: Mapping[str, Any]) -> dict[str, Any]:
    """A scheduler's answer to a heartbeat, with the next one later if trials run on that host.

    Args:
        answer: Dask's.
        metrics: what came with the heartbeat.
    """
    doing = str((metrics.get("burnish") or {}).get("doing", ""))
    return {**answer, "heartbeat-interval": QUIET_S} if work_of(doing) is Work.BENCH else answer


async def work(
    home: Home, address: str, name: str, about: Callable[[], Mapping[str, Any]], joined: Callable[[], None]
) -> None:
    """Connects this process to a scheduler as a worker, until the connection breaks.

    Args:
        home: with the certificates.
        address: the scheduler's.
        name: the host's.
        about: what is reported with each heartbeat.
        joined: called when it is connected.

    Raises:
        UserError: another worker has this name.
    """

    async def reported(_worker: Any) -> dict[str, Any]:
        return dict(about())

    worker = distributed.Worker(
        address,
        nthreads=CALLS,
        name=name,
        resources={RESOURCE: 1},
        security=security(home),
        memory_limit=0,
        dashboard=False,
        dashboard_address="127.0.0.1:0",
        local_directory=str(home.root / "hosts" / "dask"),
        metrics={"burnish": reported},
        death_timeout=60,
        silence_logs=logging.CRITICAL,
    )
    try:
        try:
            await worker
        except Exception as error:
            if is_taken(error):
                raise UserError(
                    f"{address}: another worker is called {name}; name this one otherwise with --host, or stop that one"
                ) from None
            raise
        for each in NOT_NEEDED:
            worker.periodic_callbacks[each].stop()
        joined()
        await worker.finished()
    finally:
        await worker.close(timeout=1, executor_wait=False)


def is_taken(error: BaseException) -> bool:
    """Whether the scheduler refused a worker because another one has its name; Dask says so within other errors."""
    causes: BaseException | None = error
    while causes is not None:
        if "name taken" in str(causes):
            return True
        causes = causes.__cause__ or causes.__context__
    return False


def run(coroutine: Any) -> None:
    """Runs a coroutine in an event loop of its own."""
    asyncio.run(coroutine)


class Link:
    """A connection to the scheduler of whoever asks for a study.

    Args:
        home: with the certificates.
        address: the scheduler's.
        patience: seconds to wait for it.

    Raises:
        OSError: nobody answers there.
    """

    def __init__(self, home: Home, address: str, patience: float = 30.0) -> None:
        self.address = address
        self._client: Any = distributed.Client(
            address, security=security(home), timeout=patience, set_as_default=False, direct_to_workers=False
        )

    @property
    def broken(self) -> bool:
        """Whether the connection is lost."""
        return str(self._client.status) != "running"

    def hosts(self) -> list[dict[str, Any]]:
        """What every worker reported last about its host, with its address."""
        workers = self._client.sync(self._client.scheduler.identity, n_workers=-1)["workers"]
        return [
            {**about, "address": address, "seen": worker.get("last_seen")}
            for address, worker in workers.items()
            if (about := (worker.get("metrics") or {}).get("burnish"))
        ]

    def send(self, function: Callable[..., Any], argument: Any, *, key: str, worker: str, alone: bool) -> Any:
        """Has a worker call a function; returns its future. One call at a time is `alone`, the others are beside it."""
        return self._client.submit(
            function,
            argument,
            key=key,
            workers=[worker],
            allow_other_workers=False,
            resources={RESOURCE: 1} if alone else None,
            pure=False,
            retries=0,
        )

    def close(self) -> None:
        """Ends the connection."""
        self._client.close(timeout=2)
