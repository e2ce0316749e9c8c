"""Calibrations on disk: kept in the home, leaned on by later studies of the same host.

One file for each (engine, workload, design), bound to the host and the times of a start it was measured with.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from burnish.base.digest import digest_of
from burnish.base.paths import Home
from burnish.bench.host import HostFacts
from burnish.model.workload import Design
from burnish.statistics.calibration import Calibration, from_dict

_FORMAT = 1


def host_digest(host: HostFacts) -> str:
    """What the noise depends on and does not change by itself."""
    return digest_of(
        [host.cpu_model, host.cpu_signature, host.cores_allowed, host.smt, host.hypervisor, host.governor, host.turbo]
    )


def _file(home: Home, engine: str, workload: str, design: Design) -> Path:
    return home.root / "calibration" / f"{engine}-{workload}-{design}.json"


def save(home: Home, calibration: Calibration) -> Path:
    """Keeps it for later studies; whole or not at all."""
    path = _file(home, calibration.engine, calibration.workload, calibration.design)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        json.dump({"format": _FORMAT, **calibration.as_dict()}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(path)
    return path


def find(home: Home, engine: str, workload: str, design: Design, host: HostFacts) -> Calibration | None:
    """The calibration of this host, if there is one; one of another host or form counts for nothing."""
    path = _file(home, engine, workload, design)
    try:
        found = from_dict(json.loads(path.read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.host == host_digest(host) else None
