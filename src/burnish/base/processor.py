"""The host's processor: what code it can run."""

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
        model: its name; on ARM the numbers that stand for it.
        features: words of /proc/cpuinfo's ``flags`` (x86) or ``Features`` (ARM).
    """

    architecture: str
    model: str
    features: frozenset[str]


def read_processor(cpuinfo: str, architecture: str) -> Processor:
    """The processor that a text in the form of /proc/cpuinfo describes, by its first core."""

    def value(key: str) -> str:
        match = re.search(rf"^{key}\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
        return match[1].strip() if match else ""

    numbers = "/".join(filter(None, (value("CPU implementer"), value("CPU part"))))
    features = value("flags") or value("Features")
    return Processor(architecture, value("model name") or numbers or "unknown", frozenset(features.split()))


@cache
def this_processor() -> Processor:
    """The one that we run on."""
    return read_processor(Path("/proc/cpuinfo").read_text(), platform.machine())
