"""A start's readings as events of the record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.bench.page_scatter import PageScatter
from burnish.bench.pairs import Pair, StartResult
from burnish.engines.reported import Reported, compared
from burnish.model.cell import CellId
from burnish.record.events.trials import (
    HostState,
    LaunchedProcess,
    PagesUsed,
    PairRead,
    ServersReported,
    ServerUsage,
    SideReading,
    StartDone,
)


def pair_read(cell: CellId, start: int, number: int, pair: Pair) -> PairRead:
    """A pair, with totals of each side's turns, and for each turn the figures that ratios need."""
    values = pair.as_dict()
    return PairRead(
        cell=cell,
        start=start,
        pair=number,
        sides={label: SideReading(**reading) for label, reading in values["sides"].items()},
        turns={label: tuple(map(tuple, turns)) for label, turns in values["turns"].items()},
        places=pair.places,
        usage={label: ServerUsage(**used) for label, used in values["usage"].items()},
        busy=values["busy"],
        steal=pair.steal,
        core_busy=dict(pair.core_busy),
        invalid=pair.invalid,
        at_fault=pair.at_fault if pair.invalid is not None else None,
        device={label: tuple(waits) for label, waits in values["device"].items()},
        writes=pair.writes,
    )


def start_done(
    cell: CellId,
    number: int,
    result: StartResult,
    invalid: str | None,
    readings: Mapping[str, float] | None = None,
    pair_ratios: Mapping[str, tuple[float, ...]] | None = None,
    state: tuple[HostState, ...] | None = None,
    at_fault: tuple[str, ...] = (),
    programs: tuple[str, str] | None = None,
    *,
    disturbed: bool = False,
    faster: Mapping[str, float] | None = None,
) -> StartDone:
    """A finished start.

    Args:
        cell: the cell.
        number: the start's number.
        result: the measurement.
        invalid: why the start is invalid; None if it is valid.
        readings: log-ratio of each quantity.
        pair_ratios: log-ratios of each valid pair, by quantity.
        state: the host's state after it; None if it is not probed.
        at_fault: the sides that the reason is about, if it is invalid.
        programs: digests of the base's and the candidate's program; None if not known.
        disturbed: whether it is invalid because the host was disturbed from outside.
        faster: log-ratios over the faster half of each side's turns; see `quantities.faster_half`.
    """
    return StartDone(
        cell=cell,
        start=number,
        invalid=invalid,
        settled=result.settled,
        seconds=result.seconds,
        fingerprint=result.fingerprint,
        readings=readings or {},
        pair_ratios=pair_ratios if readings else None,
        slots=result.slots,
        warmup_s=result.warmup_s,
        launched={
            label: tuple(
                LaunchedProcess(
                    role=launched["role"],
                    argv=tuple(launched["argv"]),
                    peak_rss_bytes=launched.get("peak_rss_bytes"),
                    huge_text_bytes=launched.get("huge_text_bytes"),
                )
                for launched in processes
            )
            for label, processes in result.launched.items()
        },
        hardware=result.hardware,
        facts=result.facts,
        pairs=len(result.pairs),
        at_fault=at_fault or None,
        state=state,
        pages={
            label: _pages(launched)
            for label, processes in result.launched.items()
            for launched in processes
            if launched["role"] == "server"
        },
        reported=_reported(result.reported),
        programs=programs,
        disturbed=disturbed or None,
        faster=faster or None,
    )


def _reported(sides: Mapping[str, Reported]) -> ServersReported | None:
    """What the servers said of themselves, compared; None if one of them said nothing."""
    if len(sides) < 2 or not all(reported.settings for reported in sides.values()):
        return None
    rates = {
        label: {name: float(f"{rate:.6g}") for name, rate in reported.rates().items()}
        for label, reported in sides.items()
    }
    return ServersReported(*compared(sides), rates)


def _pages(launched: Mapping[str, Any]) -> PagesUsed:
    """Where a server's memory was, kept for every start: compact records have its command only once."""
    heap, files = launched.get("huge_memory", (0, 0))
    lie: PageScatter = launched.get("scatter", PageScatter())
    return PagesUsed(
        launched.get("huge_text_bytes") or 0,
        heap,
        files,
        launched.get("nodes", {}),
        scatter_text=lie.text,
        scatter_heap=lie.heap,
        scatter_files=lie.files,
    )
