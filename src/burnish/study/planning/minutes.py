"""How many starts fit into some minutes: decided before any is taken, so that the test's error rates hold."""

from __future__ import annotations

from burnish.base.durations import duration
from burnish.base.errors import UserError
from burnish.statistics.bounds import FEWEST
from burnish.study.planning.trials_ahead import one_start
from burnish.study.request.options import Options
from burnish.study.study import Study
from burnish.study.trials.trials import CANARIES

MOST = 60
"""Most starts of a cell."""


def starts_within(study: Study, options: Options, seconds: float) -> int:
    """The number of starts of every cell that fits, beside those of the baseline against itself.

    Args:
        study: what is compared.
        options: how it is measured.
        seconds: wall time for the trials; making data sets comes on top, once.

    Raises:
        UserError: not even `FEWEST` starts fit.
    """
    round_ = sum(one_start(study, options, comparison) for comparison in study.comparisons if comparison.cell)
    fitting = int(seconds / round_) - CANARIES
    if fitting < FEWEST:
        count = len(study.comparisons)
        least = (FEWEST + CANARIES) * round_
        raise UserError(
            f"--minutes {seconds / 60:g}: {FEWEST} starts of {count} load{'s' if count > 1 else ''}, and {CANARIES} of "
            f"A against itself, take about {duration(least)}; give at least {least / 60 + 0.5:.0f}, or fewer loads"
        )
    return min(MOST, fitting)
