"""Mixes of loads: written with weights, checked against what their parts take, threads shared out by weight."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import reduce
from pathlib import Path

from burnish.base.digest import digest_of
from burnish.base.errors import UserError, unknown
from burnish.catalogue import load
from burnish.engines.shared import sql_bench
from burnish.model.engine import EngineSpec
from burnish.model.workload import Design, Mixing, Workload
from burnish.workload import loads
from burnish.workload.loads import Asked, Parameter

MIXINGS: tuple[Mixing, ...] = ("together", "in_turn")

BULK = "bulk"
"""The dataset of ``bulk_insert``, which has a table for each client thread."""

_MISSPELT = 0.8
"""So like a load's name that it is one misspelt: refused before any program is asked for its parameters."""


def mixed(spec: EngineSpec, wanted: Asked, own: Callable[[Path], Workload]) -> Workload:
    """Loads with weights, as in ``together:oltp_read_only=3,./mine.lua=1``.

    A parameter that is no load's name goes to every part that takes it (``table-size=10000``). Those that the catalogue
    does not know of stay the mix's own until `check` has asked the parts' programs for theirs.

    Args:
        spec: the engine.
        wanted: the mix as it was asked for.
        own: the load that is in a user's file.

    Raises:
        UserError: fewer than two loads, a weight that is no whole number, parts whose data get in each other's way, a
            file that is no load.
    """
    mixing = next(mixing for mixing in MIXINGS if mixing == wanted.name.replace("-", "_"))
    known_loads = {name: value for (engine, name), value in load.workloads().items() if engine == spec.name}
    known_loads |= {name: own(Path(name)) for name, _ in wanted.parameters if name.endswith(loads.FILES)}
    weights = {name: text for name, text in wanted.parameters if name in known_loads}
    shared = {name: text for name, text in wanted.parameters if name not in known_loads and name != loads.THREADS}
    taken = {
        name
        for load_name in weights
        for name in (*dict(known_loads[load_name].parameters), *known_loads[load_name].shape)
    }
    for name in shared:
        if difflib.get_close_matches(name, known_loads, n=1, cutoff=_MISSPELT) and name not in taken:
            raise _nobodys(wanted.name, name, (*known_loads, *taken))
    parts = [(_part(known_loads[name], shared), _weight(wanted.name, name, text)) for name, text in weights.items()]
    if len(parts) < 2:
        raise UserError(
            f"{wanted.name}: a mix has two loads or more, as in {wanted.name}:oltp_read_only=3,oltp_insert=1"
        )
    _check_data([part for part, _ in parts], wanted.name)
    parameters = [(part.name, str(weight)) for part, weight in parts]
    parameters += [(name.replace("_", "-"), text) for name, text in sorted(shared.items())]
    words = ",".join(f"{name}={text}" for name, text in parameters)
    contents = [part.content for part, _ in parts if part.content]
    with_data = [part for part, _ in parts if part.own_data]
    base = Workload(
        name=f"{mixing}:{words}",
        engine=spec.name,
        reason="A mix of loads that was asked for: " + ", ".join(part.name for part, _ in parts) + ".",
        program="mix.lua",
        parameters=tuple(sorted(item for item in shared.items() if item[0] not in taken)),
        threads=max(part.threads for part, _ in parts),
        writes=any(part.writes for part, _ in parts),
        dataset="+".join(sorted({part.dataset for part, _ in parts})),
        design=Design.INTERLEAVED if any(part.design is Design.INTERLEAVED for part, _ in parts) else Design.DUET,
        placement=placements.pop() if len(placements := {part.placement for part, _ in parts}) == 1 else None,
        in_memory=all(part.in_memory for part, _ in parts),
        settings=reduce(_joined, (part.settings for part, _ in parts), ()),
        content=digest_of(contents) if contents else "",
        own_data=with_data[0].own_data if with_data else "",
        database=(with_data[0] if with_data else parts[0][0]).database,
        parts=tuple(parts),
        mixing=mixing,
    )
    threads = tuple(item for item in wanted.parameters if item[0] == loads.THREADS)
    return loads.applied_threads(base, loads.applied(base, Asked(base.name, threads)).threads)


def _part(workload: Workload, shared: Mapping[str, str]) -> Workload:
    """A part of a mix with those of the mix's parameters that it takes."""
    own = {*dict(workload.parameters), *workload.shape}
    given = {name: text for name, text in shared.items() if name in own}
    return replace(workload, parameters=tuple({**dict(workload.parameters), **given}.items()))


def _weight(where: str, name: str, text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise UserError(f"{where}: {name}={text}: give its weight, a whole number from 1 to 1000")
    return int(text)


def _joined(one: tuple[tuple[str, str], ...], other: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    for name, value in other:
        if dict(one).get(name, value) != value:
            raise UserError(
                f"a mix: its loads want different {name} ({dict(one)[name]} and {value}); run them separately"
            )
    return one + tuple(item for item in other if item not in one)


def _check_data(parts: Iterable[Workload], where: str) -> None:
    """Loads that share a dataset must mean the same data by it."""
    seen: dict[str, tuple[tuple[str, str], ...]] = {}
    for part in parts:
        if part.program == sql_bench.PROGRAM:
            raise UserError(f"{where}: {part.name} has a client program of its own; run it separately")
        if part.dataset == BULK:
            raise UserError(f"{where}: {part.name} makes tables of the same names as the others; run it separately")
        if seen.setdefault(part.dataset, part.data_parameters()) != part.data_parameters():
            raise UserError(
                f"{where}: {part.name} wants other data than the load before it; give both the same size, as in "
                f"{where}:...,table-size=10000"
            )


def _nobodys(where: str, name: str, names: Iterable[str]) -> UserError:
    return unknown(f"load, or parameter of one, in {where}", name, {*names, loads.THREADS})


def check(workload: Workload, known: Callable[[Workload], Mapping[str, Parameter]]) -> Workload:
    """The mix with every parameter where it belongs: in the parts whose programs take it, or in the mix itself.

    Args:
        workload: a mix.
        known: the parameters that a load's program takes.

    Raises:
        UserError: a parameter that no part takes, or a value of the wrong type.
    """
    own = known(workload)
    part_takes = [(part, weight, known(part)) for part, weight in workload.parts]
    given = {name: text for name, text in workload.parameters if name not in own}
    for name in given:
        if not any(name in takes for _, _, takes in part_takes):
            raise _nobodys(workload.entry, name, {*own, *(other for _, _, takes in part_takes for other in takes)})
    parts = []
    for part, weight, takes in part_takes:
        own_parameters = {name: text for name, text in given.items() if name in takes and name not in part.without}
        full = replace(part, parameters=tuple({**dict(part.parameters), **own_parameters}.items()))
        parts.append((loads.check(full, takes), weight))
    general = tuple(item for item in workload.parameters if item[0] in own)
    return loads.check(replace(workload, parts=tuple(parts), parameters=general), own)


def order(weights: Iterable[int]) -> list[int]:
    """Indices of a mix's parts in the order that ``mix.lua`` gives its threads, each as often as its weight."""
    all_weights = list(weights)
    total = sum(all_weights)
    credit = [0] * len(all_weights)
    sequence = []
    for _ in range(total):
        credit = [have + weight for have, weight in zip(credit, all_weights, strict=True)]
        best = credit.index(max(credit))
        credit[best] -= total
        sequence.append(best)
    return sequence


def shares(workload: Workload) -> list[int]:
    """Client threads of each part of a mix whose parts run together."""
    turns = order(weight for _, weight in workload.parts)
    had = Counter(turns[thread % len(turns)] for thread in range(workload.threads))
    return [had[place] for place in range(len(workload.parts))]


def check_shares(workload: Workload) -> None:
    """A `UserError` where parts that run together are left without a client thread."""
    if not workload.parts or workload.mixing != "together":
        return
    without = [part.entry for (part, _), count in zip(workload.parts, shares(workload), strict=True) if not count]
    if without:
        turns = order(weight for _, weight in workload.parts)
        enough = max(turns.index(place) for place in range(len(workload.parts))) + 1
        raise UserError(
            f"{workload.name}: of {workload.threads} client threads none is left for {', '.join(without)}; take "
            f"--threads {enough} or more, smaller weights, or in_turn, where each thread runs all parts"
        )


def uneven(workload: Workload) -> str | None:
    """A warning if threads cannot be shared out in proportion to the weights; else None."""
    if not workload.parts or workload.mixing != "together":
        return None
    weights = [weight for _, weight in workload.parts]
    had, total = shares(workload), sum(weights)
    if all(count * total == weight * workload.threads for count, weight in zip(had, weights, strict=True)):
        return None
    multiple = total // math.gcd(*weights)
    return (
        f"{workload.name}: {workload.threads} client threads are shared out {' : '.join(map(str, had))}, not "
        f"{' : '.join(map(str, weights))}; take a multiple of {multiple}"
    )
