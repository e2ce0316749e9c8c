"""What a worker tells about its host."""

from __future__ import annotations

import socket
import time
from pathlib import Path

from burnish import __version__
from burnish.base.paths import Home
from burnish.base.processor import this_processor
from burnish.bench.host import HostFacts, read_host
from burnish.hosts.host import Host
from burnish.hosts.kinds import level_of, this_kind
from burnish.record.record import FILE
from burnish.study import calibration
from burnish.study.kept.runs import folders
from burnish.toolchain.toolchains import find_toolchains


def describe(home: Home, name: str, *, builds: bool, benches: bool) -> Host:
    """This host as it takes part.

    Args:
        home: its home.
        name: what it is called (`name_of`).
        builds: whether it makes builds.
        benches: whether it measures.
    """
    facts = read_host(home.root, home=home.root)
    return Host(
        name=name,
        machine=facts.machine,
        boot=facts.boot,
        kind=this_kind(),
        architecture=facts.architecture,
        level=level_of(this_processor()),
        cores=len(facts.cores_allowed),
        memory=facts.memory_bytes,
        compilers=tuple(toolchain.name for toolchain in find_toolchains()),
        version=__version__,
        home=str(home.root),
        builds=builds,
        benches=benches,
        calibration=calibrated(home, facts),
        sitting=last_sitting(home),
    )


def own_name() -> str:
    """The machine's own name, without its domain."""
    return socket.gethostname().partition(".")[0]


def calibrated(home: Home, facts: HostFacts) -> str:
    """The loads for which this host is calibrated, in words; '' if there are none.

    Args:
        home: its home, which may have calibrations of other hosts too.
        facts: this host.
    """
    return ", ".join(sorted({f"{one.engine} {one.workload}" for one in calibration.every(home, facts)}))


def last_sitting(home: Home) -> str:
    """When a record was written last, and which; '' if there is none."""
    newest: Path | None = max(folders(home), key=lambda folder: (folder / FILE).stat().st_mtime, default=None)
    if newest is None:
        return ""
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime((newest / FILE).stat().st_mtime))
    return f"{at} {newest.name}"
