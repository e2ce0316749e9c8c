"""What a bundled study's file may say: its keys, before names are looked up (`burnish.catalogue.bundled.files`)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from burnish.catalogue.bundled.likeness import Compared, Unanswered
from burnish.catalogue.bundled.means import MeanEntry
from burnish.catalogue.bundled.model import Against, Measure, Quantity
from burnish.catalogue.edge import Entry, Reason
from burnish.model.workload import Design, Placement


class Reference(Entry):
    """Location of a published figure."""

    table: str
    line: str
    against: str = ""
    column: str = ""
    against_column: str = ""


class Load(Entry):
    """``[loads.ROLE]``."""

    reason: Reason
    on: dict[str, str] = Field(default_factory=dict)


class Series(Compared):
    """``[series.NAME]``."""

    reason: Reason
    recipe: dict[str, Any] = Field(default_factory=dict)
    placement: Placement | None = None


class Reading(Compared):
    """``[readings.NAME]``."""

    title: str
    reason: Reason
    against: Against = "base"
    recipe: dict[str, Any] = Field(default_factory=dict)
    column: str = ""
    against_column: str = ""
    control: bool = False
    second_compiler: bool = False
    placement: Placement | None = None


class Row(Compared):
    """``[row.NAME]``, with the defaults and an engine's overrides applied."""

    title: str = Field(min_length=3)
    reason: Reason
    published: Reference | None = None
    published_on: dict[str, Reference] = Field(default_factory=dict)
    base: str = "baseline"
    build: str = "baseline"
    recipe: dict[str, Any] = Field(default_factory=dict)
    given: tuple[str, ...] = ()
    versus: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    quantity: Quantity = "capacity"
    design: Design | None = None
    placement: Placement | None = None
    series: tuple[str, ...] | None = None
    readings: tuple[str, ...] | None = None
    none: Reason | None = None
    nearest: tuple[str, ...] = ()
    measure: Measure | None = None
    objects: tuple[str, ...] = ()
    release: bool = False
    control: bool = False
    instrumented: bool = False
    base_instrumented: bool = False
    patch: str | None = None
    patch_set: str | None = None
    likeness_on: dict[str, Compared] = Field(default_factory=dict)


class Timeline(Entry):
    """``[timeline]``."""

    reason: Reason
    rows: tuple[str, ...]
    load: str
    threads: int = Field(default=16, gt=0)
    seconds: int = Field(default=20, ge=2)
    seconds_on: dict[str, int] = Field(default_factory=dict)


class Robust(Entry):
    """``[robust]``."""

    reason: Reason
    build: str = "baseline"
    recipe: dict[str, Any] = Field(default_factory=dict)
    loads: tuple[str, ...]
    alone: dict[str, str] = Field(default_factory=dict)
    rounds: int = Field(default=4, ge=1)
    delta: float = Field(default=0.01, gt=0, lt=0.2)
    on: dict[str, dict[str, Any]] = Field(default_factory=dict)


class Delivery(Entry):
    """``[first_delivery]``."""

    reason: Reason
    series: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()


class Study(Entry):
    """A whole file; its rows are read one by one."""

    title: str
    reason: Reason
    sources: tuple[str, ...] = ()
    engine: str
    other_engines: tuple[str, ...] = ()
    """Engines that it has loads for, but that may not be installed."""
    loads: dict[str, Load]
    series: dict[str, Series] = Field(default_factory=dict)
    readings: dict[str, Reading] = Field(default_factory=dict)
    builds: dict[str, Any] = Field(default_factory=dict)
    defaults: dict[str, Any] = Field(default_factory=dict)
    row: dict[str, dict[str, Any]]
    first_delivery: Delivery | None = None
    recommends: bool = False
    profiles: bool = False
    timeline: Timeline | None = None
    robust: Robust | None = None
    not_replicated: tuple[Unanswered, ...] = ()
    former: dict[str, Compared] = Field(default_factory=dict)
    means: dict[str, MeanEntry] = Field(default_factory=dict)
