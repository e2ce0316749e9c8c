"""Calibrations on disk: kept in the home and used by later studies on the same host.

One file for each (engine, workload, design, placement), bound to the host and the times of a start that it was
measured with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.base.files import write_whole
from burnish.base.paths import Home
from burnish.bench.host import HostFacts
from burnish.model.cell import AA
from burnish.model.workload import Design, Placement, Timing
from burnish.record.codec import value_of
from burnish.record.events.trials import TrialsPlanned
from burnish.record.events.verdicts import HostCalibrated, HostNoise, Noise, VerdictReached
from burnish.statistics.calibration import Calibration, from_dict
from burnish.statistics.calibration import calibrate as calibrate_host
from burnish.statistics.sequential import CALIBRATION_STARTS
from burnish.study.cells import Cell
from burnish.study.session import Session
from burnish.study.trials.starts import cell_starts
from burnish.study.trials.timing import timings

if TYPE_CHECKING:
    from burnish.study.workshop.workshop import Workshop

_FORMAT = 1


def host_digest(host: HostFacts) -> str:
    """Digest of the host's facts that its noise depends on and that stay the same from day to day."""
    return digest_of(
        [host.cpu_model, host.cpu_signature, host.cores_allowed, host.smt, host.hypervisor, host.governor, host.turbo]
    )


def _file(home: Home, engine: str, workload: str, design: Design, placement: Placement) -> Path:
    unusual = "" if placement is design.usual else f"-{placement}"
    return home.root / "calibration" / f"{engine}-{workload}-{design}{unusual}.json"


def save(home: Home, calibration: Calibration) -> Path:
    """Writes a calibration for later studies to use; atomically."""
    path = _file(home, calibration.engine, calibration.workload, calibration.design, calibration.placement)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, json.dumps({"format": _FORMAT, **calibration.as_dict()}, indent=1).encode(), 0o600)
    return path


def find(
    home: Home, engine: str, workload: str, design: Design, host: HostFacts, placement: Placement | None = None
) -> Calibration | None:
    """The calibration of this host, or None; a file of another host or of another format is ignored.

    Args:
        home: where it is kept.
        engine: the engine's name.
        workload: the load's name.
        design: the trial design.
        host: this host.
        placement: which cores servers and clients have; None: the design's usual placement.
    """
    return _read(_file(home, engine, workload, design, placement or design.usual), host)


def every(home: Home, host: HostFacts) -> list[Calibration]:
    """This host's calibrations, of all loads, in the order of their files' names."""
    found = (_read(path, host) for path in sorted((home.root / "calibration").glob("*.json")))
    return [calibration for calibration in found if calibration is not None]


def _read(path: Path, host: HostFacts) -> Calibration | None:
    try:
        calibration = from_dict(json.loads(path.read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return calibration if calibration.host == host_digest(host) else None


def known_calibrations(session: Session, cells: Sequence[Cell]) -> list[Calibration]:
    """This host's calibrations for the cells' workloads.

    Raises:
        UserError: one of them failed, so this host gives no verdicts without ``--force``.
    """
    calibrations: list[Calibration] = []
    for workload, design, placement in dict.fromkeys(cell.manner for cell in cells):
        calibration = find(session.home, session.spec.name, workload, design, session.host, placement)
        if calibration is None or not calibration.fits(timings(session)[design]):
            continue
        if not calibration.passes and not session.options.force:
            raise UserError(
                f"{calibration.name}: this host's calibration of {calibration.at} found the baseline different from "
                f"itself ({calibration.words}); fix the host (`burnish doctor`) and calibrate again, or use --force"
            )
        calibrations.append(calibration)
    return calibrations


def keep_calibrations(workshop: Workshop, cells: Sequence[Cell], times: Mapping[Design, Timing]) -> None:
    """Writes the calibrations of a `calibrate` study: of the cells that compared the baseline with itself."""
    if not workshop.study.calibrates:
        return
    for cell in cells:
        if cell.id.candidate != AA:
            continue
        calibration = _calibrated(workshop.session, times[cell.design], cell)
        if calibration is not None:
            save(workshop.session.home, calibration)
            workshop.record.append(HostCalibrated(host_noise(calibration)))


def keep_calibrations_left(workshop: Workshop) -> None:
    """Writes those that a session would have written that ended between their cells' verdicts and that."""
    record = workshop.record
    planned = record.last(TrialsPlanned)
    if not workshop.study.calibrates or planned is None:
        return
    kept = {recorded.event.calibration.manner for recorded in record.events(HostCalibrated)}
    cells = [workshop.cell(one) for one in workshop.study.comparisons if one.against_itself and one.cell is not None]
    left = [
        cell
        for cell in cells
        if cell.manner not in kept
        and record.last(VerdictReached, cell=cell.id) is not None
        and cell_starts(record, cell.id).valid >= CALIBRATION_STARTS
    ]
    keep_calibrations(workshop, left, {cell.design: planned.event.timings[str(cell.design)] for cell in left})


def host_noise(calibration: Calibration) -> HostNoise:
    """A calibration as a value of the record."""
    noise = {name: Noise(**vars(quantity)) for name, quantity in calibration.quantities.items()}
    return HostNoise(
        engine=calibration.engine,
        workload=calibration.workload,
        design=calibration.design,
        headline=calibration.headline,
        host=calibration.host,
        at=calibration.at,
        timing=value_of(Timing, calibration.timing),
        starts=calibration.starts,
        noise=noise,
        start_seconds=calibration.start_seconds,
        pair_seconds=calibration.pair_seconds,
        best_pairs=calibration.best_pairs,
        delta=calibration.delta,
        differences=calibration.differences,
        placement=str(calibration.placement),
    )


def _calibrated(session: Session, timing: Timing, cell: Cell) -> Calibration | None:
    """The calibration from a cell's starts; None if too many of them were invalid."""
    starts = cell_starts(session.record, cell.id)
    verdict = session.record.last(VerdictReached, cell=cell.id)
    if starts.valid < CALIBRATION_STARTS or verdict is None:
        session.bench.say(f"{cell.name}: no calibration, {len(starts.invalid)} starts were invalid")
        return None
    return calibrate_host(
        {name: starts.of(name) for name in ("capacity", "throughput")},
        [list(zip(ratios["capacity"], ratios["throughput"], strict=True)) for ratios in starts.pair_ratios],
        starts.seconds,
        engine=session.spec.name,
        workload=cell.workload.name,
        design=cell.design,
        placement=cell.placement,
        headline=cell.headline,
        host=host_digest(session.host),
        timing=timing,
        at=verdict.at,
    )
