"""The times of a start, and the rule by which a cell's trial ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from burnish.model.workload import Design, Placement, Timing
from burnish.statistics.calibration import Calibration, pairs_for
from burnish.statistics.replicates import LAYOUTS
from burnish.statistics.verdicts import HostPrior, Rule
from burnish.study.request.options import Options
from burnish.study.trials.replicates import Factors

if TYPE_CHECKING:
    from burnish.study.session import Session


def factors_of(options: Options) -> Factors:
    """How often every variant is built from the start."""
    return Factors(options.layouts or 0, options.trainings)


def layouts_of(options: Options) -> int:
    """By how many link orders of both sides a small difference is tested afterwards; 0: by none."""
    return LAYOUTS if options.layouts is None and not options.trainings else 0


def rule_of(options: Options) -> Rule:
    """The stopping rule of a cell's trial."""
    replicates = factors_of(options).count
    most = options.max_starts if replicates == 1 else replicates
    if options.starts is not None:
        return Rule.fixed(options.starts)
    return Rule(cap=most, precision=options.precision, minimum=min(8, most))


def as_asked(own: Timing, options: Options, pairs: int | None = None) -> Timing:
    """An engine's times of a start, with the requested pairs and turns.

    Args:
        own: the engine's times.
        options: what was requested.
        pairs: pairs in a start unless requested; None: the engine's.
    """
    return replace(own, pairs=options.pairs or pairs or own.pairs, turns=options.turns or own.turns)


def timings(session: Session, calibrations: Sequence[Calibration] = ()) -> dict[Design, Timing]:
    """Times of a start under each design: as requested, as calibrations recommend, or the engine's own."""
    rule = session.rule
    times = {}
    for design, own in session.spec.times.items():
        of_design = [calibration for calibration in calibrations if calibration.design is design]
        recommended = max(
            (pairs_for(calibration, rule.precision, rule.minimum) for calibration in of_design), default=None
        )
        times[design] = as_asked(own, session.options, recommended)
    return times


def priors_of(
    known: Sequence[Calibration], times: Mapping[Design, Timing]
) -> dict[tuple[str, Design, Placement], HostPrior]:
    """Priors from calibrations, by (workload's name, design, placement), for starts of these times."""
    return {calibration.manner: calibration.prior(times[calibration.design].pairs) for calibration in known}


def start_seconds(timing: Timing) -> float:
    """Rough wall time of a start, seconds: boot and stop, warm-up, then a settle and a window for each turn."""
    return 4.0 + timing.warmup + timing.pairs * timing.turns * (timing.settle + 1.1 * timing.window)
