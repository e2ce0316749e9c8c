"""Reads and validates the bundled studies (data/studies/*.toml).

A study consists of rows. Each row compares a build or a condition with its base and has the published figure, or states
why it has no equivalent today. A row is written once; `series` (a compiler, a word size) repeat it with other
settings, and `readings` make several comparisons of each row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from burnish.base.errors import UserError, together, unknown
from burnish.catalogue import load, patches
from burnish.catalogue.bundled import entries, likeness, means, published
from burnish.catalogue.bundled.likeness import NotReplicated
from burnish.catalogue.bundled.model import (
    Delivery,
    Load,
    Reading,
    Robust,
    RowKeys,
    Series,
    Study,
    StudyRow,
    Timeline,
)
from burnish.catalogue.bundled.overlays import FOLDER
from burnish.catalogue.bundled.published import Reference
from burnish.catalogue.edge import read_toml, validated, value_of
from burnish.catalogue.patches import CataloguePatch


def names() -> tuple[str, ...]:
    """The names of the bundled studies."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def study(name: str) -> Study:
    """The study called `name`; a `UserError` with the nearest name otherwise."""
    if name not in names():
        raise unknown("bundled study", name, names())
    return read(FOLDER / f"{name}.toml")


def read(path: Path) -> Study:
    """The study of a file; a `UserError` with one line for each error in it."""
    where = path.name
    entry = validated(entries.Study, read_toml(path), where)
    series = {
        name: Series(name, value.reason, value.recipe, value.placement, value.compared)
        for name, value in entry.series.items()
    }
    alike = {"recipe", "likeness", "unlike"}
    readings = {
        name: Reading(name=name, overlay=value.recipe, likeness=value.compared, **value.model_dump(exclude=alike))
        for name, value in entry.readings.items()
    }
    loads = {role: Load(role, value.reason, value.on) for role, value in entry.loads.items()}
    study = Study(
        name=path.stem,
        title=entry.title,
        reason=entry.reason,
        sources=entry.sources,
        engine=entry.engine,
        loads=loads,
        series=series or {"": Series("", entry.reason)},
        readings=readings or {"": Reading("", "", entry.reason)},
        builds=load.variants_of(entry.builds, where, path.parent),
        rows=(),
        overrides={},
        delivery=value_of(Delivery, entry.first_delivery) if entry.first_delivery else None,
        recommends=entry.recommends,
        profiles=entry.profiles,
        timeline=value_of(Timeline, entry.timeline) if entry.timeline else None,
        robust=value_of(Robust, entry.robust) if entry.robust else None,
        not_replicated=tuple(NotReplicated(**part.model_dump()) for part in entry.not_replicated),
        former={name: former.compared for name, former in entry.former.items() if former.compared},
        means=tuple(means.computed(name, value, where) for name, value in entry.means.items()),
    )
    rows, overrides, problems = [], {}, []
    for name, value in entry.row.items():
        plain = {key: field for key, field in value.items() if key != "on"}
        try:
            rows.append(_row(study, name, {**entry.defaults, **plain}, where))
            for engine, other in value.get("on", {}).items():
                overrides[name, engine] = _row(study, name, {**entry.defaults, **plain, **other}, where)
        except UserError as error:
            problems.append(error)
    problems += _unknown_names(study, entry, where)
    if problems:
        raise together(problems)
    searches = {engine: _on(study.robust, other) for engine, other in (entry.robust.on if entry.robust else {}).items()}
    return replace(study, rows=tuple(rows), overrides=overrides, robust_on=searches)


def _on(robust: Robust | None, other: Mapping[str, Any]) -> Robust:
    """The search with an engine's overrides."""
    assert robust is not None  # noqa: S101 - overrides belong to a search
    return value_of(Robust, entries.Robust(**{**vars(robust), **other}))


def _unknown_names(study: Study, entry: entries.Study, where: str) -> list[UserError]:
    """Errors for unknown names of engines, and for unknown names in the analyses."""
    engines = {*load.engines(), *entry.other_engines}
    named = [entry.engine]
    named += [engine for load_entry in entry.loads.values() for engine in load_entry.on]
    named += [engine for row in entry.row.values() for engine in row.get("on", ())]
    named += [*(entry.timeline.seconds_on if entry.timeline else ()), *(entry.robust.on if entry.robust else ())]
    references: list[tuple[str, str, Collection[str]]] = [("engine", name, engines) for name in dict.fromkeys(named)]
    if entry.timeline is not None:
        references += [("row in timeline", name, entry.row) for name in entry.timeline.rows]
        references.append(("load in timeline", entry.timeline.load, study.loads))
    if entry.robust is not None:
        references += [("load in robust", role, study.loads) for role in (*entry.robust.loads, *entry.robust.alone)]
        references += [("row in robust", name, entry.row) for name in entry.robust.alone.values()]
    return [unknown(f"{what} of {where}", name, known) for what, name, known in references if name not in known]


def _row(study: Study, name: str, value: Mapping[str, Any], where: str) -> StudyRow:
    """One row, with every name in it checked."""
    where = f"{where}: row {name}"
    about = _patch(value, where)
    if about is not None:
        value = {"title": about.title, "reason": about.reason, **value}
    entry = validated(entries.Row, value, where)
    own = [patch_load.workload for patch_load in about.loads] if about else study.loads
    for kind, given, known in (
        ("load", entry.loads, study.loads),
        ("load in published_on", entry.published_on, own),
        ("series", entry.series or (), study.series),
        ("reading", entry.readings or (), study.readings),
        ("load or reading in likeness_on", entry.likeness_on, {**study.readings, **dict.fromkeys(own)}),
        ("set of patches", (entry.patch_set,) if entry.patch_set else (), patches.patch_sets()),
    ):
        for word in given:
            if word not in known:
                raise unknown(f"{kind} in {where}", word, known)
    none = entry.none
    if about is not None and about.direction == "none":
        none = f"{about.today}. {about.reason}"
    if none is None:
        for build in (entry.base, entry.build):
            study.build(build)
        if not entry.loads and entry.measure is None and about is None:
            raise UserError(f"{where}: it has no loads; name them, or say in `none` why it has no equivalent today")
    if entry.design is not None and entry.placement is not None and not entry.design.allows(entry.placement):
        raise UserError(
            f"{where}: design {entry.design} and placement {entry.placement} don't go together; a duet is shared, "
            "interleaved and solo are apart or whole"
        )
    if entry.measure is not None and not entry.objects:
        raise UserError(f"{where}: objects: name the objects whose compilation is measured")
    figure = _reference(entry.published, where) if entry.published else None
    figures = {load: _reference(reference, where) for load, reference in entry.published_on.items()}
    if none is None and (figure or figures):
        likeness.needed(entry.compared, where)
    return StudyRow(
        name=name,
        published=figure,
        published_on=figures,
        series=tuple(study.series) if entry.series is None else entry.series,
        readings=tuple(study.readings) if entry.readings is None else entry.readings,
        patch=about,
        patch_set=patches.patch_set(entry.patch_set) if entry.patch_set else None,
        likeness=entry.compared,
        likeness_on={name: part.compared for name, part in entry.likeness_on.items() if part.compared},
        **{**vars(value_of(RowKeys, entry)), "none": none},
    )


def _reference(entry: Reference, where: str) -> Reference:
    """The location of a figure; a `UserError` if there is no such line."""
    known = published.lines(entry.table)
    for line in (entry.line, entry.against):
        if line and line not in known:
            raise unknown(f"line of {entry.table} in {where}", line, known)
    return value_of(Reference, entry)


_NOT_OF_PATCHES = ("versus", "measure", "release", "control", "instrumented", "base_instrumented")
"""Differences between a row's sides that cannot be combined with a patch."""


def _patch(value: Mapping[str, Any], where: str) -> CataloguePatch | None:
    """The bundled patch of a row, if any; a `UserError` if other keys of the row contradict it."""
    about = [key for key in ("patch", "patch_set") if value.get(key)]
    if not about:
        return None
    for key in (*about[1:], *(("loads",) if about == ["patch"] else ()), *_NOT_OF_PATCHES):
        if value.get(key):
            own = "; its loads are the patch's own" if key == "loads" else ""
            raise UserError(f"{where}: {about[0]} and {key} don't go together{own}; leave one of them out")
    try:
        return patches.entry(str(value["patch"])) if about == ["patch"] else None
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
