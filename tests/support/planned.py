"""The plan of a tune, as the command line shows it."""

from __future__ import annotations

from burnish.base.paths import Home
from burnish.study.constructors.tune import tune_study
from burnish.study.planning.plan import Plan
from burnish.study.planning.study_plan import plan_of, steps_of
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name


def plan(home: Home, engine: str, options: Options) -> Plan:
    """What `burnish plan` shows."""
    study = tune_study(engine, options)
    return steps_of(home, study, plan_of(home, study, by_name(study, Asked()), options), options)
