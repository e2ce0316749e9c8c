"""Programs that exist already as sides: what they are called, what they say of themselves, how they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from burnish.builds.evidence import Examiner
from burnish.model.recipe import Recipe, Variant
from burnish.program.built import Built, Identity
from burnish.study.builds.make import Made
from burnish.study.options import Setting


def short_names(programs: Sequence[Path]) -> list[str]:
    """Short names for two programs: the file names, or as much of the path as tells them apart."""
    parts = [program.resolve().parts for program in programs]
    for length in range(1, max(len(each) for each in parts) + 1):
        names = ["/".join(each[-length:]) for each in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{program.name}#{number}" for number, program in enumerate(programs, start=1)]


def known_program(setting: Setting, name: str, built: Built) -> Made:
    """An existing program under its short name, with what it says of itself, noted in the record."""
    renamed = replace(built, name=name)
    identity = setting.engine.identity(renamed, setting.bench)
    setting.record.append("program", variant=name, path=str(built.server), key=built.key, identity=asdict(identity))
    facts = Examiner(setting.engine, setting.store, setting.bench, setting.scratch).look(renamed)
    setting.record.append("evidence", variant=name, key=built.key, tried={}, **facts)
    return Made(Variant(name, Recipe(), "an existing program"), renamed, identity)


def differences(one: Identity, other: Identity) -> list[str]:
    """What sets two programs apart besides speed: version and features, a line each; none where both are equal."""
    found = []
    if one.version != other.version:
        found.append(f"version: {one.version} against {other.version}")
    mine, theirs = dict(one.features), dict(other.features)
    found += [
        f"{name}: {mine.get(name, 'absent')} against {theirs.get(name, 'absent')}"
        for name in sorted({*mine, *theirs})
        if mine.get(name) != theirs.get(name)
    ]
    return found
