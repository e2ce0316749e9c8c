"""Instruction-set levels, functions that are chosen at run time, and processors to try: the catalogue's data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache, cached_property

from pydantic import BaseModel, ConfigDict, Field, model_validator

from burnish.base.digest import digest_of
from burnish.base.errors import unknown
from burnish.catalogue.edge import ROOT, Reason, read_toml, validated


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Level(_Table):
    """What a level has beyond the one before it."""

    reason: Reason
    extensions: tuple[str, ...] = Field(min_length=1)


class Harmless(_Table):
    """Instructions that narrow nothing."""

    reason: Reason
    extensions: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()


class Dispatched(_Table):
    """Functions that are reached only after the processor was asked, by regular expressions on their symbols."""

    name: str
    reason: Reason
    patterns: tuple[str, ...] = Field(min_length=1)


class ArmExtension(_Table):
    """An extension of aarch64: (mask, value) of its instructions, hexadecimal."""

    reason: Reason
    level: str
    encodings: tuple[tuple[str, str], ...] = Field(min_length=1)

    @property
    def masks(self) -> list[tuple[int, int]]:
        """As numbers."""
        return [(int(mask, 16), int(value, 16)) for mask, value in self.encodings]


class Instructions(_Table):
    """The file instructions.toml."""

    levels: dict[str, Level]
    harmless: tuple[Harmless, ...]
    dispatched: tuple[Dispatched, ...]
    arm: dict[str, ArmExtension]
    arm_dispatched: tuple[Dispatched, ...]

    @cached_property
    def harmless_extensions(self) -> frozenset[str]:
        """Extensions whose instructions narrow nothing."""
        return frozenset(name for each in self.harmless for name in each.extensions)

    @cached_property
    def harmless_instructions(self) -> frozenset[str]:
        """Instructions that narrow nothing whatever extension they belong to."""
        return frozenset(name for each in self.harmless for name in each.instructions)

    def level(self, used: Collection[str]) -> tuple[str, list[str]]:
        """The lowest level that holds all extensions of `used` that any level holds; and those that none holds."""
        names = list(self.levels)
        place = {extension: number for number, name in enumerate(names) for extension in self.levels[name].extensions}
        highest = max((place[extension] for extension in used if extension in place), default=0)
        return names[highest], sorted(extension for extension in used if extension not in place)

    def holds(self, offered: str, needed: str) -> bool:
        """Whether a processor of level `offered` runs code that needs `needed`."""
        names = list(self.levels)
        return needed in names and names.index(needed) <= names.index(offered)

    @property
    def digest(self) -> str:
        """Changes with the data: what was scanned with other data is scanned again."""
        return digest_of(self.model_dump())


class Processor(_Table):
    """A processor that a build can be tried on under qemu.

    Attributes:
        architecture: which builds it is for.
        model: qemu's name.
        level: its instruction-set level.
    """

    architecture: str
    model: str
    level: str
    reason: Reason


class _Processors(_Table):
    processors: dict[str, Processor]

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        return {"processors": value}


@cache
def instructions() -> Instructions:
    """The levels and functions of instructions.toml."""
    return validated(Instructions, read_toml(ROOT / "instructions.toml"), "instructions.toml")


@cache
def processors() -> Mapping[str, Processor]:
    """The processors of processors.toml by name."""
    return validated(_Processors, read_toml(ROOT / "processors.toml"), "processors.toml").processors


def demanded(name: str) -> tuple[str, Processor | None]:
    """(instruction-set level, processor to try) that `name` stands for: a level or a processor.

    Raises:
        UserError: it is neither; the nearest name is given.
    """
    if name in instructions().levels:
        return name, None
    mine = {key: value for key, value in processors().items() if value.architecture == "x86-64"}
    if name not in mine:
        raise unknown("processor or level", name, [*instructions().levels, *mine])
    return mine[name].level, mine[name]
