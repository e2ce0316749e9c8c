"""The verb `study run`: one sitting of a study that ships, which goes on where an earlier one ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from burnish.base.paths import Home
from burnish.study import preparing, session, studies
from burnish.study import workloads as workload_choice
from burnish.study.builds import needs
from burnish.study.bundled import chains as study_chains
from burnish.study.bundled import extras as study_extras
from burnish.study.bundled.cells import Table
from burnish.study.bundled.end import analyse, end
from burnish.study.bundled.extras import Extra
from burnish.study.bundled.session import (
    Sitting,
    analysis_loads,
    definition_of,
    finished,
    open_record,
    record_table,
    settled,
    table_of,
)
from burnish.study.bundled.work import AtWork
from burnish.study.options import Ask, Options, Setting
from burnish.study.planning import bundled_plan
from burnish.study.planning.bundled_plan import Asked, Forecast, Selection
from burnish.study.planning.plan import summary
from burnish.study.studies import Definition


def run(home: Home, sitting: Sitting, options: Options, console: Console, ask: Ask | None) -> Path:
    """One sitting of a study; returns its folder.

    Raises:
        UserError: unknown names, a budget too small for one row, a ladder beyond the server's connections.
    """
    table = table_of(sitting, options)
    spec, options = table.engine, replace(options, explore=True)
    definition = definition_of(table, options)
    selection = bundled_plan.by_name(table, sitting.asked)
    if not options.fresh and (done := finished(home, definition)) is not None:
        console.print(f"{done.name}: finished already; --fresh measures it again", markup=False, highlight=False)
        return done
    with studies.lock(home):
        _install(table, selection, options, ask)
        found, extras = forecast(home, table, selection, sitting.asked, options, definition)
        asked_for, selection = selection, bundled_plan.within(selection, found, sitting.asked.budget)
        if selection is not asked_for:
            found, _ = forecast(home, table, selection, sitting.asked, options, definition)
        needs.check_disk(home, spec, sum(step.kind in ("compile", "partial") for step in found.plan.ahead))
        loads = bundled_plan.workloads_of([each for each in selection.chosen if each.reason is None])
        loads = tuple({each.name: each for each in (*loads, *analysis_loads(table, sitting.asked))}.values())
        setting = session.begin(home, spec, definition, options, console, loads, ask)
        expected = {cost.unit: cost.seconds for cost in found.costs}
        ahead = summary(found.plan, seconds=False)
        ahead += study_extras.sums(found.costs, *study_extras.within(extras, found, selection, sitting.asked.budget))
        with session.nothing_half_made(setting.record):
            at_work = _begin(setting, table, selection, sitting, ahead)
        setting.bench.total = len(found.plan.building)
        at_work.maker.builder.expected.update(found.plan.expected)
        at_work.go(expected, sitting.asked.budget)
        analyse(at_work, sitting.asked, extras)
        return end(at_work, sitting.asked.budget)


def forecast(
    home: Home, table: Table, selection: Selection, asked: Asked, options: Options, definition: Definition
) -> tuple[Forecast, tuple[Extra, ...]]:
    """What is still to be done of a study: its rows, and what it tells beyond them."""
    have, done = frozenset[str](), study_extras.Told()
    with open_record(home, definition) as record:
        if record is not None and not options.fresh:
            have, done = settled(record), study_extras.told(record)
    return study_extras.predict(home, table, selection, asked, options, have, done)


def _install(table: Table, selection: Selection, options: Options, ask: Ask | None) -> None:
    """Installs what the chosen rows need; a row whose tools are refused is left out later on."""
    chosen = [each for each in selection.chosen if each.reason is None]
    variants = [table.variants[name] for name in bundled_plan.needed(chosen)]
    needs.install(table.engine, variants, options, ask)
    words = {word for each in chosen for word in (*each.given, *each.versus)}
    groups = [group for group in ("tls", "remote") if f"transport={group}" in words]
    loads = [each.workload.entry for each in chosen if each.workload is not None]
    for group in [*groups, *workload_choice.groups(table.engine, loads)]:
        needs.ensure_or_go_on([group], f"rows that need {group}", options, ask)


def _begin(setting: Setting, table: Table, selection: Selection, sitting: Sitting, ahead: Sequence[str]) -> AtWork:
    """Source, stages of all builds, the baseline's build and data."""
    record_table(setting.record, table, selection)
    have = settled(setting.record)
    chosen = [each for each in selection.chosen if each.reason is None and not bundled_plan.is_decided(each, have)]
    names = bundled_plan.needed(chosen)
    features = setting.options.features or setting.spec.default_features
    (first,), maker = preparing.prepare(setting, [table.variants["baseline"]], features, ahead)
    origin = maker.builder.origin
    assert origin is not None  # noqa: S101 - prepare gave it
    chains = study_chains.chains_of(
        table, names, source_digest=origin.digest, home=setting.home, store=setting.store, features=features
    )
    at_work = AtWork(setting, table, selection, maker, {**chains, "baseline": first}, sitting.release)
    at_work.check_loads()
    # A host whose calibration failed is refused now, not after an hour of builds.
    at_work.known([at_work.cell(each, each.label) for each in chosen if each.cell is not None])
    possible = [chain.variant for chain in chains.values() if chain.missing is None]
    maker.workloads |= workload_choice.training_workloads(setting.spec, possible)
    return at_work
