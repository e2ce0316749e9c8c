"""A load program that logs its transactions and does not tick: a library that is preloaded into it writes its ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.base import process
from burnish.engines.shared.load_process import LoadProcess
from burnish.engines.side import TICK_S, SideSpec

SOURCE = Path(__file__).with_name("log_ticks.c")
"""The library's source, which says how transactions are counted and how the server's CPU time is read."""

_LIBRARY = "ticks.so"


def make_counter(folder: Path) -> None:
    """Compiles the library in `folder`, the load's; so that it need not be done when the load begins."""
    words: list[str | Path] = ["cc", "-O2", "-shared", "-fPIC", "-pthread", SOURCE, "-o", folder / _LIBRARY]
    process.run([*words, "-lm", "-ldl"], timeout=60).check("compiling the counter of the load's transactions")


class LoggedLoad(LoadProcess):
    """A load program on one server; what it logs is counted, and no log is written. `make_counter` comes first.

    Args:
        argv: its command line, which makes it log each transaction.
        spec: the side: its folder, in which it works, and its cores.
        transactions: a part of that log's path, and of no other file's that it opens.
        field: which field of a line has the transaction's microseconds, from 1.
        server_pid: the server's first process; the time of its children counts as the server's.
        environment: further variables for it.
    """

    def __init__(
        self,
        argv: Sequence[str],
        spec: SideSpec,
        *,
        transactions: str,
        field: int,
        server_pid: int,
        environment: Mapping[str, str],
    ) -> None:
        folder = spec.folder
        ticks = folder / "ticks.jsonl"
        variables = {
            **environment,
            "LD_PRELOAD": f"./{_LIBRARY}",  # it works in its folder, whose path may have what separates libraries
            "BURNISH_LOG": transactions,
            "BURNISH_LOG_FIELD": str(field),
            "BURNISH_TICKS": str(ticks),
            "BURNISH_TICK_S": str(TICK_S),
            "BURNISH_SERVER_PID": str(server_pid),
        }
        super().__init__(
            argv, log=folder / "load.log", ticks=ticks, folder=folder, environment=variables, cores=spec.cores
        )
