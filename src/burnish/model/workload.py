"""Workloads: the load on a server, and the timing and trial designs with which it is measured."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Mixing = Literal["together", "in_turn"]

OWN_TESTS = "own_tests"
"""Name of a training that is no load: a run of the server's own tests, as the gate runs them."""


class Placement(StrEnum):
    """Which cores a server and the clients that load it have.

    * ``shared``: each server shares its cores with its clients, beside the other side: what a duet does;
    * ``apart``: the server and its clients have cores of their own, half of them each;
    * ``whole``: one side at a time, server and clients on all cores together, so that contention between cores appears.
    """

    SHARED = "shared"
    APART = "apart"
    WHOLE = "whole"

    @property
    def mixed(self) -> bool:
        """Whether a server and its clients take CPU time from one another, so that capacity is read, not throughput."""
        return self is not Placement.APART


class Design(StrEnum):
    """How the two sides of a trial share the host.

    * ``duet``: both under load at the same time, each on half of the cores, swapping halves;
    * ``interleaved``: both running, one at a time under load, in random order;
    * ``solo``: only one at a time is running, as in production.
    """

    DUET = "duet"
    INTERLEAVED = "interleaved"
    SOLO = "solo"

    @property
    def usual(self) -> Placement:
        """The placement of this design unless another is named; that of every record that names none."""
        return Placement.SHARED if self is Design.DUET else Placement.APART

    def allows(self, placement: Placement) -> bool:
        """Whether it can be measured in a placement: two sides at once share cores with their clients, one does not."""
        return (self is Design.DUET) == (placement is Placement.SHARED)


@dataclass(frozen=True)
class Workload:
    """A load that an engine's load program understands.

    Attributes:
        name: as in the catalogue.
        engine: name of the engine that it is for.
        reason: why one would run it and what it shows.
        program: sysbench script, or the engine's own load program.
        parameters: arguments of the program (tables, rows, sizes), as (name, value).
        threads: client threads of each side.
        writes: whether it changes its data, which are then restored before each start.
        dataset: name of the data it needs; workloads with the same name and parameters share a dataset.
        unit: what is counted: ``transaction`` or ``unit`` (one complete pass of a program).
        design: the trial design used unless a study names another.
        in_memory: whether all its data should be in the server's memory; a pair that reads from disk is then invalid.
        saturated: whether its server should be busy all the time; a pair in which the client is the bottleneck is
            then invalid.
        shape: names of the parameters that determine the data; empty: all of them.
        prepare: script that makes the data; '' is `program`. The same for all workloads that share a dataset.
        prepare_threads: threads that make the data.
        without: parameters of the program that this load does not accept.
        settings: server settings of the load, as (name, value); a condition's settings override them.
        database: name of the database that it uses.
        per_minute: whether its rate is also reported in transactions per minute, with the mean response time.
        file: a user's own script or file of statements; '' for a bundled load.
        content: digest of that file's content.
        own_data: a user's dump or data folder that the dataset is made from; '' when `prepare` makes it.
        parts: loads that this one mixes, as (load, weight).
        mixing: whether each part has client threads of its own (``together``) or each thread runs all (``in_turn``).
        placement: the placement used unless a study names another; None: the design's usual one.
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
    placement: Placement | None = None

    @property
    def identity(self) -> str:
        """Its name, plus the digest of the user's files if it has any; identifies the load when a study is resumed."""
        return f"{self.name}#{self.content}@{self.dataset}" if self.content else self.name

    @property
    def entry(self) -> str:
        """Its name in the catalogue, without parameters."""
        return self.name.partition(":")[0]

    def data_parameters(self) -> tuple[tuple[str, str], ...]:
        """The parameters that determine the data; for a mix, those of its parts."""
        if self.parts:
            by_dataset = {part.dataset: part.data_parameters() for part, _ in self.parts}
            if len(by_dataset) == 1:
                return next(iter(by_dataset.values()))
            return tuple((f"{name}.{item[0]}", item[1]) for name, items in sorted(by_dataset.items()) for item in items)
        return tuple(item for item in self.parameters if not self.shape or item[0] in self.shape)

    def data_settings(self, shaping: Collection[str]) -> tuple[tuple[str, str], ...]:
        """Those of its settings that determine its data's format on disk (`ServerSettings.shaping`), sorted."""
        return tuple(sorted(item for item in self.settings if item[0] in shaping))

    def parameter(self, name: str, default: str = "") -> str:
        """A parameter's value, or `default`."""
        return dict(self.parameters).get(name, default)


@dataclass(frozen=True)
class Timing:
    """Times of a start under one design, in seconds.

    Attributes:
        settle: time discarded at the beginning of each turn.
        window: measured part of a turn, after that.
        warmup: shortest time under load before the first pair.
        pairs: pairs in a start.
        turns: turns in a pair: an even number, so that each side is in each place equally often.
    """

    settle: float
    window: float
    warmup: float
    pairs: int = 3
    turns: int = 2

    @property
    def pair(self) -> float:
        """Seconds that a pair takes if no turn exceeds its requested length."""
        return self.turns * (self.settle + self.window)
