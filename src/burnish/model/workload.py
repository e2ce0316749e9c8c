"""Workloads: the load on a server, and the times and designs by which it is measured."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Mixing = Literal["together", "in_turn"]


class Design(StrEnum):
    """How the two sides of a trial share the host.

    * ``duet``: both under load at the same time, each on half of the cores, changing places;
    * ``interleaved``: both up, one at a time under load, in random order;
    * ``solo``: one at a time is up at all, as a user will run it.
    """

    DUET = "duet"
    INTERLEAVED = "interleaved"
    SOLO = "solo"


@dataclass(frozen=True)
class Workload:
    """A load that an engine's load program understands.

    Attributes:
        name: as in the catalogue.
        engine: name of the engine that it is for.
        reason: why one would run it and what it shows.
        program: sysbench script, or the engine's own load program.
        parameters: what the program is called with (tables, rows, sizes), as (name, value).
        threads: client threads of each side.
        writes: whether it changes its data, so that they are restored before each start.
        dataset: name of the data it needs; workloads with the same name and parameters share a dataset.
        unit: what is counted: ``transaction`` or ``unit`` (one whole pass of a program).
        design: the trial design that fits it, unless a study says otherwise.
        in_memory: whether all its data are meant to be in the server's memory; a pair that reads from disk then
            counts for nothing.
        saturated: whether its server is meant to be busy all the time; a pair in which the client is the
            bottleneck then counts for nothing.
        shape: names of the parameters that decide what the data are; empty: all of them do.
        prepare: script that makes the data; '' is `program`. What shares a dataset shares this too.
        prepare_threads: threads that make the data.
        without: parameters of the program that this load does not take.
        settings: server settings that belong to the load, as (name, value); a condition's win over them.
        database: the database that it works in.
        per_minute: whether its rate is told in transactions per minute too, with the mean response time.
        file: a user's own script or file of statements; '' for a shipped load.
        content: digest of what that file holds.
        own_data: a user's dump or data folder that the dataset is made from; '' when `prepare` makes it.
        parts: loads that are mixed in this one, as (load, weight).
        mixing: whether each part has client threads of its own (``together``) or each thread does all (``in_turn``).
    """

    name: str
    engine: str
    reason: str
    program: str
    parameters: tuple[tuple[str, str], ...] = ()
    threads: int = 4
    writes: bool = False
    dataset: str = "none"
    unit: str = "transaction"
    design: Design = Design.DUET
    in_memory: bool = False
    saturated: bool = False
    shape: tuple[str, ...] = ()
    prepare: str = ""
    prepare_threads: int = 2
    without: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    database: str = "sbtest"
    per_minute: bool = False
    file: str = ""
    content: str = ""
    own_data: str = ""
    parts: tuple[tuple[Workload, int], ...] = ()
    mixing: Mixing = "together"

    @property
    def identity(self) -> str:
        """Its name, with the digest of the user's files where it has any: what a study is found again by."""
        return f"{self.name}#{self.content}@{self.dataset}" if self.content else self.name

    @property
    def entry(self) -> str:
        """The catalogue's name for it, without parameters."""
        return self.name.partition(":")[0]

    def data_parameters(self) -> tuple[tuple[str, str], ...]:
        """The parameters that decide what the data are; a mix's are its parts'."""
        if self.parts:
            each = {part.dataset: part.data_parameters() for part, _ in self.parts}
            if len(each) == 1:
                return next(iter(each.values()))
            return tuple((f"{name}.{item[0]}", item[1]) for name, items in sorted(each.items()) for item in items)
        return tuple(item for item in self.parameters if not self.shape or item[0] in self.shape)

    def data_settings(self, shaping: Collection[str]) -> tuple[tuple[str, str], ...]:
        """Those of its settings that decide what its data look like on disk (`ServerSettings.shaping`), sorted."""
        return tuple(sorted(item for item in self.settings if item[0] in shaping))

    def parameter(self, name: str, default: str = "") -> str:
        """A parameter's value, or `default`."""
        return dict(self.parameters).get(name, default)


@dataclass(frozen=True)
class Timing:
    """Times of a start under one design, in seconds.

    Attributes:
        settle: discarded at the begin of each turn.
        window: length of a turn after that.
        warmup: least load before the first pair.
        pairs: pairs in a start.
        turns: turns in a pair: an even number, so that each side has each place equally often.
    """

    settle: float
    window: float
    warmup: float
    pairs: int = 3
    turns: int = 2

    @property
    def pair(self) -> float:
        """Seconds that a pair takes when no turn is longer than it was asked to be."""
        return self.turns * (self.settle + self.window)
