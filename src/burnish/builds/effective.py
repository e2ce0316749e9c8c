"""Which flags were in force: a build's compile commands compared with what the recipe asked for; pure.

Build systems append flags of their own, and the last one wins: a cmake build type's -O2 silently cancels an
-O3 given before it. So a variant is judged by the commands that made its objects, not by the request.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from burnish.builds.stages import is_level
from burnish.program.built import CompiledObject

C_SUFFIXES = (".c", ".s", ".S")
"""Suffixes of sources that are compiled by the C compiler with the flags for C."""
PLACED = ("-fprofile-use", "-fprofile-generate")
"""Flags of profiles whose value is no more than a place (MySQL's cmake gives one of its own)."""


@dataclass(frozen=True)
class Effective:
    """The flags in force for the objects of a build.

    Attributes:
        objects: number of objects examined.
        levels: (level, number of objects), most frequent first.
        cancelled: requested flags that are not in force everywhere: (flag, objects without it, an example).
    """

    objects: int
    levels: tuple[tuple[str, int], ...]
    cancelled: tuple[tuple[str, int, str], ...]

    @property
    def summary(self) -> str:
        """One line: levels and what was cancelled."""
        levels = ", ".join(f"{level} in {count}" for level, count in self.levels)
        text = f"{self.objects} objects: {levels}"
        for flag, count, example in self.cancelled:
            text += f"; {flag} cancelled in {count} of {self.objects} (e.g. {example})"
        return text


def _opposites(flag: str) -> re.Pattern[str]:
    """Pattern of later flags that cancel `flag`; it matches the flag itself too."""
    if is_level(flag):
        return re.compile(r"-O([0-3sgz]|fast)?")
    if "-prefix-map=" in flag:  # these accumulate
        return re.compile(re.escape(flag))
    if re.match(r"-f(no-)?stack-protector", flag):  # -strong, -all and plain replace each other
        return re.compile(r"-f(no-)?stack-protector(-strong|-all|-explicit)?")
    if match := re.fullmatch(r"-([fm])(?:no-)?([^=]+)(?:=.*)?", flag):
        return re.compile(rf"-{match[1]}(no-)?{re.escape(match[2])}(=.*)?")
    if match := re.fullmatch(r"-[DU]([^=]+)(?:=.*)?", flag):
        return re.compile(rf"-[DU]{re.escape(match[1])}(=.*)?")
    return re.compile(re.escape(flag))


def _plain(flag: str) -> str:
    """A macro without a value is defined as 1 (gcc's manual, Preprocessor Options)."""
    return f"{flag}=1" if flag.startswith("-D") and "=" not in flag else flag


def holds(flag: str, command: Sequence[str]) -> bool:
    """Whether `flag` is in force in a compile command: present, and not overridden by a later one.

    A profile that was asked for at its usual place is used wherever a later word says that it lies.
    """
    pattern = _opposites(flag)
    last = next((word for word in reversed(command) if pattern.fullmatch(word)), None)
    if last is not None and flag in PLACED and last.startswith(f"{flag}="):
        return True
    return last is not None and _plain(last) == _plain(flag)


def examine(objects: Iterable[CompiledObject], c: Sequence[str], cxx: Sequence[str]) -> Effective:
    """Checks every object for the flags that were requested for its language.

    Args:
        objects: the build's objects with the commands that made them.
        c: flags requested for C, including those that no later flag can cancel.
        cxx: flags requested for C++.
    """
    levels: Counter[str] = Counter()
    missing: dict[str, list[str]] = {}
    count = 0
    # Flags that the recipe itself overrides are not requested.
    asked = {True: [flag for flag in c if holds(flag, c)], False: [flag for flag in cxx if holds(flag, cxx)]}
    for item in objects:
        count += 1
        is_c = item.source.endswith(C_SUFFIXES)
        levels[_last_level(item.command)] += 1
        for flag in asked[is_c]:
            if not holds(flag, item.command):
                missing.setdefault(flag, []).append(item.source)
    return Effective(
        objects=count,
        levels=tuple(levels.most_common()),
        cancelled=tuple((flag, len(where), where[0]) for flag, where in missing.items()),
    )


def _last_level(command: Sequence[str]) -> str:
    return next((word for word in reversed(command) if is_level(word)), "no level")
