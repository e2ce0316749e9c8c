"""A side of a server with clients: one server and the program that loads it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

from burnish.base.errors import InfrastructureError
from burnish.engines.shared.load_process import LoadProcess
from burnish.engines.shared.server_process import STOP_S, ServerProcess
from burnish.engines.side import Side, SideSpec, Tick

ServerT = TypeVar("ServerT", bound=ServerProcess)

_ENDING_S = 1.0
"""Seconds for which a server whose load is in trouble may take to end. A dying server closes its connections before
the kernel says that it has ended, so its load knows first."""


class ServerSide(Side, Generic[ServerT]):
    """A server that `boot` starts and a load that `load` starts; an engine adds what it asks its server.

    Attributes:
        server: the server.

    Args:
        spec: what the side is made of.
        server: see there; not yet booted.
    """

    def __init__(self, spec: SideSpec, server: ServerT) -> None:
        self.spec = spec
        self.server = server
        self._load: LoadProcess | None = None
        self._awaited = False
        self._stopped = False

    @abstractmethod
    def new_load(self) -> LoadProcess:
        """The load on the server that runs, not yet started.

        Raises:
            UserError: its load is none that can be.
        """

    def objection(self, load: LoadProcess) -> str | None:  # noqa: ARG002
        """Why a load that runs is not as it was asked for, in one line; by default None."""
        return None

    def launch(self) -> None:
        """See `Side.launch`."""
        self.server.begin()

    def boot(self) -> None:
        """See `Side.boot`."""
        self.server.boot()

    def load(self) -> None:
        """See `Side.load`."""
        if not self.server.alive:
            raise InfrastructureError(f"{self.spec.label}: {self.server.ending()}", log=self.server.log)
        self._load = self.new_load()
        self._load.start()

    def ticks(self) -> list[Tick]:
        """See `Side.ticks`."""
        return [] if self._load is None else self._load.ticks()

    def server_pids(self) -> list[int]:
        """See `Side.server_pids`."""
        return self.server.pids()

    def client_pids(self) -> list[int]:
        """See `Side.client_pids`."""
        return [] if self._load is None else self._load.pids()

    def silence(self) -> float:
        """See `Side.silence`."""
        return 0.0 if self._load is None else self._load.silence()

    def cipher(self) -> str | None:
        """The cipher of the load's connections (see `LoadProcess.cipher`); None without a load."""
        return None if self._load is None else self._load.cipher()

    def complaints(self) -> list[str]:
        """See `Side.complaints`."""
        return self.server.complaints()

    def trouble(self) -> str | None:
        """See `Side.trouble`: the server's end first, since the load's end follows from it; then the load's words."""
        if self._stopped:
            return None
        said = None if self._load is None else self._load.trouble()
        if said and not self._awaited:
            self._awaited = True
            self.server.ends_within(_ENDING_S)
        if self.server.pid and not self.server.alive:
            ending = f"{self.server.ending()} (its log: {self.server.log})"
            said = f"{ending}; {said}" if said else ending
        elif self._load is not None:
            said = said or self.objection(self._load)
        return f"{self.spec.label}: {said}" if said else None

    def finish(self, patience: float) -> None:
        """See `Side.finish`."""
        if self._end(patience) != 0:
            why = f"{self.spec.label}: {self.server.ending()} at the end of its load, so its counts are not whole"
            raise InfrastructureError(why, log=self.server.log)

    def stop(self) -> None:
        """See `Side.stop`."""
        self._end(STOP_S)

    def _end(self, patience: float) -> int:
        """Ends the load, then the server; returns the server's exit code."""
        self._stopped = True
        try:
            if self._load is not None:
                self._load.stop()
        finally:
            code = self.server.stop(patience)
        return code
