"""What a flush costs where a server's data are, by a probe: writes of 4 KiB, each followed by fdatasync.

A commit waits for one such flush (several commits may share it), so the probe shows before a study what its disk does
to the throughput of a load that commits.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from burnish.record.events.trials import FlushesProbed

FLUSHES = 200
_BYTES = 4096
_LONGEST_S = 2.0
_FEWEST = 20

ERRATIC = 5.0
"""Ratio of the 99th percentile to the median from which flushes come in phases that a turn cannot average out."""

_FELT_S = 50e-6
"""Median seconds of a flush below which it is a small part of any commit."""


def probe(folder: Path, storage: str, kind: str) -> FlushesProbed:
    """Times flushes in a folder: `FLUSHES`, or as many as end within two seconds.

    Args:
        folder: where to write a file, which is removed.
        storage: as in the condition.
        kind: of the file system, for the record.
    """
    path = folder / f".flushes-{os.getpid()}"
    block, seconds = os.urandom(_BYTES), []
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o600)
    try:
        os.posix_fallocate(handle, 0, FLUSHES * _BYTES)
        os.fsync(handle)
        end = time.monotonic() + _LONGEST_S
        for number in range(FLUSHES):
            began = time.perf_counter()
            os.pwrite(handle, block, number * _BYTES)
            os.fdatasync(handle)
            seconds.append(time.perf_counter() - began)
            if time.monotonic() > end and number >= _FEWEST:
                break
    finally:
        os.close(handle)
        path.unlink()
    return summary(seconds, storage, kind)


def summary(seconds: list[float], storage: str, kind: str) -> FlushesProbed:
    """The event of these flushes; pure."""
    ordered = sorted(seconds)
    return FlushesProbed(
        storage=storage,
        filesystem=kind,
        flushes=len(ordered),
        median_s=round(ordered[len(ordered) // 2], 7),
        p99_s=round(ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))], 7),
        longest_s=round(ordered[-1], 7),
    )


def warning(probed: FlushesProbed) -> str | None:
    """What a user should know before a load that commits is measured there, in one line; None if flushes are even."""
    if probed.median_s < _FELT_S or probed.p99_s < ERRATIC * probed.median_s:
        return None
    return (
        f"storage={probed.storage}: a flush takes {1e3 * probed.median_s:.2f} ms, one in a hundred "
        f"{1e3 * probed.p99_s:.1f} ms or more: expect throughput to scatter; the report's remark has it without the "
        "device's time where that matters, and more starts (--starts, --precision) or --sittings 3 narrow it; "
        "storage=memory takes the disk out of the figures, but starts scattered as much there"
    )
