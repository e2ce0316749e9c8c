"""Catalogue data: instruction-set levels, functions selected at run time, and processors to test with."""

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
    """Extensions that a level adds to the one before it."""

    reason: Reason
    extensions: tuple[str, ...] = Field(min_length=1)


class Harmless(_Table):
    """Instructions that do not narrow portability."""

    reason: Reason
    extensions: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()


class Dispatched(_Table):
    """Functions that are called only after a check of the processor, as regular expressions on their symbols."""

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
        """The encodings as numbers."""
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
        """Extensions whose instructions do not narrow portability."""
        return frozenset(name for group in self.harmless for name in group.extensions)

    @cached_property
    def harmless_instructions(self) -> frozenset[str]:
        """Instructions that do not narrow portability, whatever their extension."""
        return frozenset(name for group in self.harmless for name in group.instructions)

    def level(self, used: Collection[str]) -> tuple[str, list[str]]:
        """The lowest level with all extensions of `used` that belong to a level, and those that belong to none."""
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
        """Digest of the data: programs scanned with other data are scanned again."""
        return digest_of(self.model_dump())


class Processor(_Table):
    """A processor on which a build can be tested under qemu.

    Attributes:
        architecture: architecture of the builds.
        model: qemu's name for it.
        level: its instruction-set level.
        reason: why it is in the catalogue.
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
    """(instruction-set level, processor to test with) for the name of a level or a processor.

    Raises:
        UserError: the name is neither; the message has the nearest name.
    """
    if name in instructions().levels:
        return name, None
    candidates = {key: value for key, value in processors().items() if value.architecture == "x86-64"}
    if name not in candidates:
        raise unknown("processor or level", name, [*instructions().levels, *candidates])
    return candidates[name].level, candidates[name]
