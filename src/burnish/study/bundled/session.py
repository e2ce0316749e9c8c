"""A sitting of a study that ships: what was asked, what makes it part of a study, what is on record of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from burnish.base.digest import digest_of
from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.catalogue.studies import study
from burnish.model.workload import Workload
from burnish.record.exchange import IMPORTED
from burnish.record.record import Record
from burnish.source.patches import patch_set
from burnish.study import session, studies
from burnish.study import workloads as workload_choice
from burnish.study.bundled import patches
from burnish.study.bundled.cells import Table
from burnish.study.bundled.expansion import expand, other_compilers
from burnish.study.options import Options
from burnish.study.planning.bundled_plan import Asked, Selection
from burnish.study.studies import Definition
from burnish.toolchain.toolchains import choose, find_toolchains


@dataclass(frozen=True)
class Sitting:
    """What a person says to `study run` beside the options of every trial.

    Attributes:
        study: the study's name.
        engine: the engine's; None: the study's own.
        asked: which part of it.
        release: a distribution's server program; None: the one that is found.
        second: compiler that stands for another patch level; None: the one that is found.
    """

    study: str
    engine: str | None = None
    asked: Asked = field(default_factory=Asked)
    release: Path | None = None
    second: str | None = None


def table_of(sitting: Sitting, options: Options) -> Table:
    """The study's comparisons, as this host and these words have them.

    Raises:
        UserError: an unknown study or engine, a second compiler that is not there.
    """
    found, spec = study(sitting.study), load.engine(sitting.engine or study(sitting.study).engine)
    toolchains = find_toolchains()
    second = other_compilers(toolchains)
    if sitting.second is not None:
        chosen = choose(sitting.second, toolchains)
        second[chosen.family] = sitting.second
    given = sitting.asked.threads
    own = sorted({number for row in found.rows_for(spec.name) for number in row.threads} | set(given))
    table = expand(found, spec, threads=own if given else (), settings=options.settings, second=second)
    # A ladder that only the words have belongs to rows that have one; rows keep their own numbers otherwise.
    kept = tuple(
        each for each in table.comparisons
        if each.threads is None or each.threads in given or each.threads in table.row(each.row).threads
    )  # fmt: skip
    return replace(table, comparisons=kept)


def definition_of(table: Table, options: Options) -> Definition:
    """What makes two sittings parts of one study: its rows' content and how they are measured, not which part."""
    spec, own = table.engine, table.study
    rows = own.rows_for(spec.name)
    meaning: list[Any] = [
        [(row.name, row.base, row.build, row.recipe, row.given, row.versus, row.loads) for row in rows],
        {name: variant.recipe.as_dict() for name, variant in own.builds.items()},
        {name: each.overlay for name, each in own.series.items()},
        {name: (each.against, each.overlay) for name, each in own.readings.items()},
        own.robust_for(spec.name),
    ]
    pins: dict[str, list[str]] = {}
    if named := patches.words(rows):
        meaning.append([named, table.architecture])
        pins = patch_set.pins(table.variants.values())
    features = options.features or spec.default_features
    plain = session.definition_of(own.name, spec, replace(options, explore=True), ["baseline"], (), features, ())
    loads = tuple(dict.fromkeys(each.named[spec.name] for each in own.loads.values() if spec.name in each.named))
    return replace(plain, workloads=loads, recipes={"rows": digest_of(meaning)}, patches=pins)


def finished(home: Home, definition: Definition) -> Path | None:
    """The newest study of this definition, when it is finished."""
    for folder in reversed(studies.folders(home)):
        with contextlib.closing(Record(folder)) as record:
            begun = record.last("study")
            if begun and begun.body.get("digest") == definition.digest and record.last(IMPORTED) is None:
                return folder if record.last("finished") is not None else None
    return None


@contextlib.contextmanager
def open_record(home: Home, definition: Definition) -> Iterator[Record | None]:
    """The record of the unfinished study of this definition, to read; None where there is none."""
    for folder in reversed(studies.folders(home)):
        with contextlib.closing(Record(folder)) as record:
            begun = record.last("study")
            open_still = record.last("finished") is None and record.last(IMPORTED) is None
            if begun and begun.body.get("digest") == definition.digest and open_still:
                yield record
                return
    yield None


def settled(record: Record) -> frozenset[str]:
    """Names of cells that have their verdict, and keys of comparisons that have theirs under another name."""
    cells = {str(event.body["cell"]) for event in record.events("verdict")}
    keys = {str(event.body["key"]) for event in record.events("measured")}
    tried = {str(event.body["key"]) for event in record.events("tried") if event.body["cell"] in cells}
    return frozenset(cells | keys | tried)


def record_table(record: Record, table: Table, selection: Selection) -> None:
    """Puts the study's table on record: what a report is made from, whatever becomes of it."""
    own = table.study
    record.append(
        "shipped",
        study=own.name,
        title=own.title,
        reason=own.reason,
        sources=own.sources,
        recommends=own.recommends,
        rows={row.name: {"title": row.title, "reason": row.reason} for row in own.rows_for(table.engine.name)},
        readings={name: {"title": each.title, "reason": each.reason} for name, each in own.readings.items()},
        series={name: each.reason for name, each in own.series.items()},
        builds=list(table.variants),
        architecture=table.architecture,
        patches={
            row.name: told
            for row in own.rows_for(table.engine.name)
            if patches.engine_of(row) == table.engine.name
            and (told := patches.facts(row, table.architecture)) is not None
        },
        comparisons=[
            {
                "key": each.key,
                "row": each.row,
                "series": each.series,
                "reading": each.reading,
                "load": each.load,
                "threads": each.threads,
                "test": each.test,
                "workload": each.workload.name if each.workload else "",
                "cell": each.cell.name if each.cell else None,
                "base": each.base,
                "candidate": each.label,
                "quantity": each.quantity,
                "control": each.control,
                "measure": each.measure,
                "published": each.published.as_dict() if each.published else None,
                "published_words": each.published.words if each.published else "-",
                "reason": each.reason,
                "final": each.final,
                "shows": each.shows,
            }
            for each in table.comparisons
        ],
        cut=dict(selection.cut),
    )


def wants_timeline(table: Table, asked: Asked) -> bool:
    """Whether the builds whose seconds are told are among what was asked for."""
    timeline = table.study.timeline
    return timeline is not None and (not asked.rows or set(timeline.rows) <= set(asked.rows))


def analysis_loads(table: Table, asked: Asked) -> tuple[Workload, ...]:
    """The loads that a study's analyses need beside those of its rows."""
    own, engine = table.study, table.engine
    robust = own.robust_for(engine.name) if not asked.rows else None
    roles: list[tuple[str, tuple[int, ...]]] = [(role, ()) for role in (robust.loads if robust else ())]
    if own.timeline is not None and wants_timeline(table, asked):
        roles.append((own.timeline.load, (own.timeline.threads,)))
    found: list[Workload] = []
    for role, ladder in roles:
        name = own.loads[role].named.get(engine.name)
        if name is not None:
            found += workload_choice.choose(engine, [name], ladder=ladder)
    return tuple(found)
