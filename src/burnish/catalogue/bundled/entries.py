"""What a bundled study's file may say: its keys, before names are looked up (`burnish.catalogue.bundled.files`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from burnish.catalogue.bundled import model, published
from burnish.catalogue.bundled.likeness import Compared, Unanswered
from burnish.catalogue.bundled.means import MeanEntry
from burnish.catalogue.bundled.model import Against
from burnish.catalogue.edge import Entry, Reason, entry_of
from burnish.model.workload import Placement

if TYPE_CHECKING:  # a type can't be made of a function's result; an entry has its value's fields
    from burnish.catalogue.bundled.model import Delivery, RowKeys, Timeline
    from burnish.catalogue.bundled.model import Robust as _Robust
    from burnish.catalogue.bundled.published import Reference
else:
    _POSITIVE = Annotated[int, Field(gt=0)]
    Reference = entry_of(published.Reference)
    RowKeys = entry_of(
        model.RowKeys, {"title": Annotated[str, Field(min_length=3)], "reason": Reason, "none": Reason | None}
    )
    Timeline = entry_of(
        model.Timeline, {"reason": Reason, "threads": _POSITIVE, "seconds": Annotated[int, Field(ge=2)]}
    )
    Delivery = entry_of(model.Delivery, {"reason": Reason})
    _Robust = entry_of(
        model.Robust, {"reason": Reason, "rounds": _POSITIVE, "delta": Annotated[float, Field(gt=0, lt=0.2)]}
    )


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


class Row(Compared, RowKeys):  # type: ignore[misc] # at run time both are entries
    """``[row.NAME]``, with the defaults and an engine's overrides applied."""

    published: Reference | None = None
    published_on: dict[str, Reference] = Field(default_factory=dict)
    series: tuple[str, ...] | None = None
    readings: tuple[str, ...] | None = None
    patch: str | None = None
    patch_set: str | None = None
    likeness_on: dict[str, Compared] = Field(default_factory=dict)


class Robust(_Robust):
    """``[robust]``."""

    on: dict[str, dict[str, Any]] = Field(default_factory=dict)


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
