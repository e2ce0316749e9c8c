"""The host's processor and its features."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Processor:
    """A processor as the kernel describes it.

    Attributes:
        architecture: ``x86_64``, ``aarch64``.
        model: its name; on ARM, its implementer and part numbers.
        features: words of /proc/cpuinfo's ``flags`` (x86) or ``Features`` (ARM).
    """

    architecture: str
    model: str
    features: frozenset[str]


def read_processor(cpuinfo: str, architecture: str) -> Processor:
    """The processor described by the text of /proc/cpuinfo (its first core)."""

    def value(key: str) -> str:
        match = re.search(rf"^{key}\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
        return match[1].strip() if match else ""

    numbers = "/".join(filter(None, (value("CPU implementer"), value("CPU part"))))
    features = value("flags") or value("Features")
    return Processor(architecture, value("model name") or numbers or "unknown", frozenset(features.split()))


@cache
def this_processor() -> Processor:
    """The processor of this host."""
    return read_processor(Path("/proc/cpuinfo").read_text(), platform.machine())
