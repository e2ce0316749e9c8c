"""Existing programs as sides: their names, versions and features, and how they differ."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from burnish.base.errors import UserError
from burnish.builds.evidence import Examiner, Portable, refused
from burnish.engines.recognising import different_servers
from burnish.model.cell import BuildId
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Recipe, Variant
from burnish.program.built import Built, Identity, differing
from burnish.record.events.builds import ProgramExamined, ProgramFound, VariantSettled
from burnish.record.events.patches import TwinFound
from burnish.record.record import Record
from burnish.study.builds.make import Made
from burnish.study.builds.recorded import identity_recorded, program_examined
from burnish.study.session import Session


def short_names(programs: Sequence[Path]) -> list[str]:
    """Short names for two programs: the file names, or as much of the path as makes them differ."""
    parts = [program.resolve().parts for program in programs]
    for length in range(1, max(len(path_parts) for path_parts in parts) + 1):
        names = ["/".join(path_parts[-length:]) for path_parts in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{program.name}#{number}" for number, program in enumerate(programs, start=1)]


def known_program(session: Session, name: str, built: Built, portable: Portable | None = None) -> Made:
    """An existing program under its short name, examined and recorded.

    Args:
        session: the study's.
        name: its name in the study.
        built: the program.
        portable: what is required of its portability; None: nothing.

    Raises:
        UserError: it does not run on a processor that it must run on.
    """
    renamed, portable = replace(built, name=name), portable or Portable()
    identity = session.engine.identity(renamed, session.bench)
    session.record.append(ProgramFound(BuildId(name), str(built.server), built.key, identity_recorded(identity)))
    examiner = Examiner(session.engine, session.store, session.bench, session.scratch)
    facts = examiner.look(renamed)
    tried = examiner.try_on(renamed, portable.to_try(facts["program"]["machine"]))
    session.record.append(program_examined(BuildId(name), built.key, tried, facts))
    if why := refused(facts, tried, portable):
        raise UserError(f"{name}: {built.server}: {why}; name another program, or leave out --portable")
    return Made(Variant(name, Recipe(), "an existing program"), renamed, identity)


def differences(one: Identity, other: Identity) -> list[str]:
    """How two programs differ besides speed, in version and features: one line each."""
    lines = []
    if one.version != other.version:
        lines.append(f"version: {one.version} against {other.version}")
    one_features, other_features = dict(one.features), dict(other.features)
    lines += [
        f"{name}: {one_features.get(name, 'absent')} against {other_features.get(name, 'absent')}"
        for name in differing(one_features, other_features)
    ]
    return lines


def of_one_product(one: Made, other: Made) -> None:
    """Raises a `UserError` if two existing programs say that they are different servers."""
    identities = [made.identity for made in (one, other)]
    products = [identity.product for identity in identities if identity is not None and identity.product]
    if len(set(products)) > 1:
        raise different_servers(*((made.variant.name, its) for made, its in zip((one, other), products, strict=True)))


def of_one_format(spec: EngineSpec, one: Made, other: Made) -> None:
    """Raises a `UserError` if two existing programs are of major versions that do not read one another's data."""
    versions = [made.identity.version for made in (one, other) if made.identity is not None]
    if spec.data_per_major and len({_number(version)[:1] for version in versions}) > 1:
        (its, theirs), (first, second) = versions, (one.variant.name, other.variant.name)
        raise UserError(
            f"{first} is {spec.title} {its} and {second} is {theirs}: neither reads the data of the other, on which "
            "both are measured; name two programs of one major version"
        )


def older(one: Made, other: Made) -> Made:
    """Of two existing programs the one of the older version, whose data both read; the first if none is older."""
    return min(one, other, key=lambda made: _number(made.identity.version if made.identity is not None else ""))


def several_versions(made: Iterable[Made]) -> bool:
    """Whether programs or builds are of more than one version; how a version was packaged does not matter."""
    return len({_number(item.identity.version) for item in made if item.identity is not None}) > 1


def _number(version: str) -> tuple[int, ...]:
    """The first number of a version line, part by part, as a sort key."""
    found = re.search(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def note_variant(record: Record, item: Made, notes: Sequence[str], *, named: bool = True) -> None:
    """Records whether a variant can be measured, with notes.

    Args:
        record: the study's.
        item: the variant.
        notes: sentences for the report.
        named: whether it was requested by name.
    """
    record.append(
        VariantSettled(
            variant=item.variant.name,
            reason=item.variant.reason,
            weakens_security=item.variant.weakens_security,
            changes_results=item.variant.changes_results,
            narrows_portability=item.variant.narrows_portability,
            failure=item.failure,
            same=item.same,
            notes=tuple(notes),
            named=named,
        )
    )


def same_programs(record: Record, made: Sequence[Made], replicates: Mapping[str, Sequence[Built]]) -> dict[str, str]:
    """Builds whose programs are byte for byte the same as an earlier one's, each with the earlier one's name.

    Args:
        record: has the digests of every program that was examined.
        made: the builds, in order.
        replicates: builds of each variant by its name, where it has several: each must be the same.
    """
    programs = {
        recorded.event.build.name: (recorded.event.program.code, recorded.event.program.data)
        for recorded in record.events(ProgramExamined)
    }
    first: dict[tuple[tuple[str, ...], ...], str] = {}
    twins: dict[str, str] = {}
    for item in made:
        name = item.variant.name
        builds = replicates.get(name, (item.built,) if item.built else ())
        other = first.setdefault(tuple(programs[built.name] for built in builds), name)
        if other != name:
            twins[name] = other
    return twins


def same_before(record: Record, names: Collection[str]) -> dict[str, str]:
    """Builds that an earlier session found to be the same program as one that is decided since, and that still are.

    Args:
        record: has what was found, and the digests of every program that was examined.
        names: the builds that are not decided.
    """
    programs: dict[str, dict[int, tuple[str, str]]] = {}
    for recorded in record.events(ProgramExamined):
        build, program = recorded.event.build, recorded.event.program
        programs.setdefault(build.variant, {})[build.replicate] = program.code, program.data
    found = [recorded.event for recorded in record.events(TwinFound)]
    return {
        twin.variant: twin.of
        for twin in found
        if twin.variant in names and twin.of not in names and programs.get(twin.variant) == programs.get(twin.of)
    }
