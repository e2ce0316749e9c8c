"""The families of compilers that recipes can name."""

from __future__ import annotations

from typing import Literal

Family = Literal["gcc", "clang"]


FAMILIES: tuple[Family, ...] = ("gcc", "clang")
