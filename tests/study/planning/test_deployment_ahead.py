"""The time of ways to deploy, as a plan foresees it and a search keeps it."""

from __future__ import annotations

import pytest

from burnish.study.constructors.tune import tune_study
from burnish.study.planning.trials_ahead import deployment
from burnish.study.request.options import Options


def test_ways_to_deploy_are_measured_each_and_then_together() -> None:
    """One way: on the build, and so deployed against the baseline; several: each, then together in both places."""

    def seconds(*names: str) -> float:
        options = Options(strategy="ladder", deploy=names)
        study = tune_study("fake", options)
        step = deployment(study, options, study.comparisons)
        return step.seconds.value if step is not None else 0.0

    assert seconds() == 0.0
    once = seconds("lighter") / 2
    assert once > 0.0
    assert seconds("lighter", "heavier") == pytest.approx(4 * once)
    assert seconds("lighter", "heavier", "unknown") == pytest.approx(5 * once)
