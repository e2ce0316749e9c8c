"""Bayesian optimisation by Optuna's tree of Parzen estimators (Bergstra et al. 2011, NeurIPS): an optional package."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from burnish.base.errors import UserError
from burnish.search.desk import Desk, Strategy
from burnish.search.space import Point
from burnish.search.strategies.ladder import climb
from burnish.search.strategies.race import confirm, first
from burnish.search.strategies.sampling import drawn


def alone(desk: Desk) -> Strategy[None]:
    """Known-good builds first, then what Optuna proposes until the budget is used up, then the best again."""
    optuna = _optuna()
    yield from climb(desk)
    while True:
        point = proposed(optuna, desk)
        if point is None:
            break
        before = len(desk.book.arms)
        yield from first(desk, [point], "bayes", "proposed by the model of what was measured")
        if len(desk.book.arms) == before:
            break
    yield from confirm(desk)


def _optuna() -> Any:
    try:
        optuna = import_module("optuna")
    except ImportError:
        raise UserError(
            "--strategy bayes: needs the package optuna, which is not installed; "
            "`pip install 'burnish[search]'` adds it, or use another strategy"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def proposed(optuna: Any, desk: Desk) -> Point | None:
    """What the model proposes, made allowed; a drawn build where that is tried already; None if all are.

    The model is made anew from the book for each proposal, so that it depends on what is known and the seed alone.
    """
    space, arms = desk.space, desk.book.arms
    sampler = optuna.samplers.TPESampler(seed=desk.settings.seed + len(arms), multivariate=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    kinds = {one.name: optuna.distributions.CategoricalDistribution(one.levels) for one in space.choices}
    for point, arm in arms.items():
        if arm.scores and not arm.failed:
            study.add_trial(optuna.trial.create_trial(params=space.levels(point), distributions=kinds, value=arm.mean))
    found = space.repaired(space.point(study.ask(kinds).params))
    return found if found.settings and found not in arms else drawn(desk)
