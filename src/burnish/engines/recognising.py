"""Whose program a file is, found by asking each engine; programs that are compared must be one server's."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.engines.contract import Built
from burnish.engines.registry import create
from burnish.model.engine import EngineSpec


def engine_of(program: Path) -> EngineSpec | None:
    """The engine whose program it is; None if it is no engine's."""
    for spec in load.engines().values():
        with contextlib.suppress(UserError):
            create(spec).existing(program)
            return spec
    return None


def existing(spec: EngineSpec, programs: Sequence[Path]) -> list[Built]:
    """Programs of one engine, as values.

    Raises:
        UserError: one of them is no program of this engine, or two are different servers.
    """
    behaviour, found = create(spec), []
    for program in programs:
        try:
            found.append(behaviour.existing(program))
        except UserError:
            other = engine_of(program)
            if other is None or other.name == spec.name:
                raise
            first = next((str(built.server) for built in found), f"--engine {spec.name}")
            raise different_servers((first, spec.title), (str(program), other.title)) from None
    return found


def different_servers(one: tuple[str, str], other: tuple[str, str]) -> UserError:
    """The refusal of two programs, each as (its name, which server it is)."""
    (first, its), (second, theirs) = one, other
    return UserError(
        f"{first} is {its} and {second} is {theirs}: different servers, whose difference is not one of builds; name "
        "two programs of one server (two versions of it will do)"
    )
