"""The kind of a host, by its processor, from `catalogue/data/kinds.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from burnish.base.processor import Processor, this_processor
from burnish.catalogue.edge import ROOT, Reason, read_toml, validated
from burnish.catalogue.flags import targets

FILE = "kinds.toml"
LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
"""Instruction-set levels, the lowest first."""


class Kind(BaseModel):
    """A kind of processors.

    Attributes:
        vendor: x86's vendor, as /proc/cpuinfo has it.
        family: its family.
        models: its models.
        implementer: ARM's implementer, hexadecimal.
        part: its part, hexadecimal.
        reason: why it is a kind of its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    vendor: str = ""
    family: int | None = None
    models: tuple[int, ...] = ()
    implementer: str = ""
    part: str = ""
    reason: Reason


@cache
def kinds() -> Mapping[str, Kind]:
    """All kinds by name."""
    return {name: validated(Kind, value, f"{FILE}: {name}") for name, value in read_toml(ROOT / FILE).items()}


def kind_of(cpuinfo: str, architecture: str) -> str:
    """The kind of the processor that /proc/cpuinfo describes; of an unknown one its numbers, as a word.

    Args:
        cpuinfo: the text of /proc/cpuinfo; its first core counts.
        architecture: as the kernel names it.
    """

    def value(key: str) -> str:
        match = re.search(rf"^{key}\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
        return match[1].strip() if match else ""

    vendor, family, model = value("vendor_id"), value("cpu family"), value("model")
    implementer, part = value("CPU implementer"), value("CPU part")
    for name, kind in kinds().items():
        x86 = kind.vendor and (kind.vendor, str(kind.family)) == (vendor, family) and model in map(str, kind.models)
        arm = kind.part and (kind.implementer, kind.part) == (implementer, part)
        if x86 or arm:
            return name
    numbers = [word for word in (family, model, implementer, part) if word]
    return "-".join((architecture, *numbers)).replace(" ", "-")


def this_kind() -> str:
    """The kind of this host."""
    return kind_of(Path("/proc/cpuinfo").read_text(), this_processor().architecture)


def level_of(processor: Processor) -> str:
    """The highest instruction-set level that a processor offers; '' where there are none."""
    offered = [level for level in LEVELS if targets()[level].runs_on(processor)]
    return offered[-1] if offered else ""
