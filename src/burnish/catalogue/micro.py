"""The catalogue of microbenchmarks: each times one function of a server and has a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pydantic import Field, model_validator

from burnish.base.errors import UserError, unknown
from burnish.catalogue.edge import ROOT, Entry, Pairs, Reason, read_toml, validated

C_DRIVER, CXX_DRIVERS = ".c", (".cc", ".cpp")


@dataclass(frozen=True)
class Cross:
    """Settings for cross-compiling to another architecture, besides another compiler.

    Attributes:
        flags: flags for every source, in place of what configuring on that architecture would detect.
        include: include folders of the tree, relative to it.
        copied: files of the tree to copy as headers under another name, as (relative path, name).
        sources: additional files of the tree, in place of libraries missing for that architecture.
        without_link: words of the link that these files replace.
    """

    flags: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    copied: tuple[tuple[str, str], ...] = ()
    sources: tuple[str, ...] = ()
    without_link: tuple[str, ...] = ()


@dataclass(frozen=True)
class Micro:
    """A microbenchmark.

    Attributes:
        name: as on the command line.
        engine: engine of the function.
        does: what is timed.
        reason: why it is timed separately.
        driver: the file that makes inputs and calls the function (see ``bench/micro/micro.h``).
        like: source of the tree whose compile command is used for the driver.
        sources: sources of the tree whose objects are linked.
        on: additional sources by architecture, as the kernel names it.
        defines: macros for the driver, as (name, value).
        link: words at the end of the link.
        generated: files that the driver includes, relative to the build folder, each with the target that writes it.
        never_called: symbols that the objects refer to, but the function does not reach.
        threads: number of threads that call the function at once.
        cross: settings for cross-compiling, by architecture.
    """

    name: str
    engine: str
    does: str
    reason: str
    driver: Path
    like: str
    sources: tuple[str, ...] = ()
    on: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    defines: tuple[tuple[str, str], ...] = ()
    link: tuple[str, ...] = ()
    generated: tuple[tuple[str, str], ...] = ()
    never_called: tuple[str, ...] = ()
    threads: int = 1
    cross: Mapping[str, Cross] = field(default_factory=dict)

    def sources_on(self, architecture: str) -> tuple[str, ...]:
        """The sources whose objects are linked on an architecture."""
        return (*self.sources, *self.on.get(architecture, ()))


class _Cross(Entry):
    flags: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    copied: Pairs = ()
    sources: tuple[str, ...] = ()
    without_link: tuple[str, ...] = ()


class _Micro(Entry):
    engine: str
    does: str = Field(min_length=15)
    reason: Reason
    driver: str
    like: str
    sources: tuple[str, ...] = ()
    on: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    defines: Pairs = ()
    link: tuple[str, ...] = ()
    generated: Pairs = ()
    never_called: tuple[str, ...] = ()
    threads: int = Field(default=1, ge=1, le=1024)
    cross: dict[str, _Cross] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _compiles(self) -> _Micro:
        if not self.driver.endswith((C_DRIVER, *CXX_DRIVERS)):
            raise ValueError(f"driver is {self.driver!r}; name a file that ends in .c, .cc or .cpp")
        return self


@cache
def micros() -> Mapping[str, Micro]:
    """All microbenchmarks of the catalogue by name."""
    return read_micros(ROOT / "micro.toml")


def read_micros(path: Path) -> dict[str, Micro]:
    """The microbenchmarks of a TOML file in the catalogue's format; their drivers are in the folder of the same name.

    Raises:
        UserError: an entry is incomplete, or its driver is missing.
    """
    micros_by_name = {}
    for name, value in read_toml(path).items():
        where = f"{path.name}: {name}"
        entry = validated(_Micro, value, where)
        driver = path.with_suffix("") / entry.driver
        if not driver.is_file():
            raise UserError(f"{where}: driver: there is no file {driver.parent.name}/{driver.name}; add it")
        cross = {architecture: Cross(**value.model_dump()) for architecture, value in entry.cross.items()}
        micros_by_name[name] = Micro(name=name, **{**entry.model_dump(), "driver": driver, "cross": cross})
    return micros_by_name


def micro(name: str, known: Mapping[str, Micro] | None = None) -> Micro:
    """The microbenchmark called `name`; a `UserError` with the nearest name otherwise."""
    known = micros() if known is None else known
    if name not in known:
        raise unknown("microbenchmark", name, known)
    return known[name]
