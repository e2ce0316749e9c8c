"""Readers convert an option's words to its value; an error names the option and what it accepts.

A reader takes the option's name as it is typed and all words given to it, in their order (one, where the option is not
repeatable). It returns the value or raises `UserError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.base.durations import budget_of
from burnish.base.errors import UserError, together, unknown
from burnish.hosts.host import chosen_of
from burnish.model.sittings import GAP_S
from burnish.model.workload import Design, Placement
from burnish.workload import loads
from burnish.workload.objective import aim_of

Reader = Callable[[str, Sequence[str]], Any]


def text(option: str, words: Sequence[str]) -> str:
    """The word unchanged; of a repeated option, the last; a `UserError` if there is nothing in it."""
    if not words[-1].strip():
        raise _empty(option)
    return words[-1]


def path(option: str, words: Sequence[str]) -> Path:
    """A path, which need not exist."""
    return Path(text(option, words))


def paths(option: str, words: Sequence[str]) -> tuple[Path, ...]:
    """Paths, in separate words or separated by commas; each at most once."""
    return tuple(map(Path, names(option, words)))


def url(option: str, words: Sequence[str]) -> str:
    """A URL, a folder's path, or 'none'; the last one counts."""
    return text(option, words)


def verbatim(_option: str, words: Sequence[str]) -> tuple[str, ...]:
    """Every word unchanged, commas included."""
    return tuple(words)


def names(option: str, words: Sequence[str]) -> tuple[str, ...]:
    """Names, in separate words or separated by commas; each at most once."""
    return _each_once(option, [name.strip() for word in words for name in word.split(",") if name.strip()])


def _each_once(option: str, parts: Sequence[str]) -> tuple[str, ...]:
    """Names that are there, each at most once; a `UserError` otherwise."""
    for name in parts:
        if parts.count(name) > 1:
            raise UserError(f"{option}: {name!r} is named twice; name each once")
    if not parts:
        raise _empty(option)
    return tuple(parts)


def _empty(option: str) -> UserError:
    """The error for a word as of a shell's variable that is not set: it does not ask for what is usual."""
    return UserError(f"{option}: found an empty name; name something, or leave {option} out")


def workloads(option: str, words: Sequence[str]) -> tuple[str, ...]:
    """Workloads with their parameters (see `burnish.workload.loads.split`)."""
    found = tuple(load for word in words for load in loads.split(word, option))
    if not found:
        raise UserError(f"{option}: found an empty name; name a load, or leave {option} out")
    return found


def threads(option: str, words: Sequence[str]) -> tuple[int, ...]:
    """Numbers of client threads, each of which is a separate load."""
    found = loads.ladder(",".join(words))
    if not found:
        raise UserError(f"{option}: found no number; give whole numbers, as in 1,4,16, or leave {option} out")
    return found


@dataclass(frozen=True)
class Number:
    """A reader of numbers.

    Attributes:
        low: the lowest that is allowed.
        high: the highest; None: no bound.
        whole: whether they must be whole.
    """

    low: float
    high: float | None = None
    whole: bool = False

    def __call__(self, option: str, words: Sequence[str]) -> Any:
        """The last word as a number.

        Raises:
            UserError: it is none, or out of bounds.
        """
        word = words[-1]
        try:
            value = int(word) if self.whole and word.removeprefix("-").isdecimal() else float(word)
        except ValueError:
            value = float("nan")
        fits = self.low <= value <= (value if self.high is None else self.high) and value != float("inf")
        if not fits or (self.whole and not isinstance(value, int)):
            raise UserError(f"{option} {word}: give a {'whole ' * self.whole}number {self.bounds}")
        return value if self.whole else float(value)

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        return f"of at least {self.low:g}" if self.high is None else f"from {self.low:g} to {self.high:g}"


def on_hosts(option: str, words: Sequence[str]) -> tuple[str, ...]:
    """Hosts as they are named; what they are is found out when they are asked."""
    chosen_of(words, option)
    return tuple(words)


def integer(low: int, high: int | None = None) -> Number:
    """A reader of whole numbers from `low` to `high` (None: no bound)."""
    return Number(low, high, whole=True)


def number(low: float, high: float | None = None) -> Number:
    """A reader of numbers from `low` to `high` (None: no bound)."""
    return Number(low, high)


def precision(option: str, words: Sequence[str]) -> float | None:
    """A half-width as a share of 1; None for 'none'."""
    word = words[-1]
    if word == "none":
        return None
    try:
        value = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0.0005 <= value <= 0.2:
        raise UserError(f"{option} {word}: give a half-width from 0.05% to 20%, or 'none'")
    return value


def slower(option: str, words: Sequence[str]) -> float:
    """The loss that fails a check, as a share of 1, from ``slower>1%``; ``slower`` alone is any loss."""
    found = re.fullmatch(r"slower(?:\s*>\s*(\d+(?:\.\d+)?)\s*%)?", words[-1].strip())
    value = float(found[1] or 0) / 100 if found else -1.0
    if not 0 <= value <= 0.5:
        raise UserError(f"{option} {words[-1]!r}: give 'slower>N%' with N from 0 to 50, as in 'slower>1%'")
    return value


def budget(_option: str, words: Sequence[str]) -> float | None:
    """Seconds, from a duration such as ``2h``, ``90m`` or ``1h30m``."""
    return budget_of(words[-1])


def apart(option: str, words: Sequence[str]) -> float:
    """Seconds between two sittings: half an hour at least, since starts that are closer are one sitting."""
    seconds = budget_of(words[-1], option)
    if seconds is None or seconds < GAP_S:
        raise UserError(f"{option} {words[-1]}: starts that are closer than 30m are one sitting; give 30m or more")
    return seconds


def replicates(option: str, words: Sequence[str]) -> int:
    """A number of replicates: 0, or at least 3, which a verdict needs."""
    value: int = integer(0, 60)(option, words)
    if value in (1, 2):
        raise UserError(
            f"{option} {value}: a verdict by replicate needs at least 3; give 6 for 1 %, 18 for 0.5 %, or 0"
        )
    return value


def design(option: str, words: Sequence[str]) -> Design:
    """One trial design."""
    chosen = designs(option, words)
    if len(chosen) != 1:
        raise UserError(f"{option} {','.join(words)}: name one design; `burnish calibrate` takes several")
    return chosen[0]


def placement(_option: str, words: Sequence[str]) -> Placement:
    """Which cores servers and clients have."""
    known = [item.value for item in Placement]
    if words[-1] not in known:
        raise unknown("placement", words[-1], known)
    return Placement(words[-1])


def designs(option: str, words: Sequence[str]) -> tuple[Design, ...]:
    """Trial designs, each at most once."""
    known = [item.value for item in Design]
    for name in names(option, words):
        if name not in known:
            raise unknown("design", name, known)
    return tuple(Design(name) for name in names(option, words))


def objective(option: str, words: Sequence[str]) -> str:
    """What a search is for: a quantity, a response time with its rate."""
    aim_of(words[-1], option)
    return words[-1]


def strategy(_option: str, words: Sequence[str]) -> str:
    """The name of a search's strategy."""
    from burnish.search.asks import STRATEGIES

    if words[-1] not in STRATEGIES:
        raise unknown("strategy", words[-1], STRATEGIES)
    return words[-1]


def marks(option: str, words: Sequence[str]) -> tuple[str, ...]:
    """Marks of variants, written with hyphens or spaces."""
    from burnish.catalogue.space import MARKS

    given = tuple(name.replace("-", " ") for name in names(option, words))
    spelled = [mark.replace(" ", "-") for mark in MARKS]  # as they need no quotes
    wrong = [unknown(f"mark of {option}", name.replace(" ", "-"), spelled) for name in given if name not in MARKS]
    if wrong:
        raise together(wrong)
    return given


def weights(option: str, words: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Loads with their parameters and weights, ``LOAD=NUMBER`` each (see `burnish.workload.loads.weighted`)."""
    found = [one for word in words for one in loads.weighted(word)]
    for name, weight in found:
        if not weight:
            raise UserError(f"{option} {name}: give LOAD=NUMBER, as in {option} {name}=2")
    _each_once(option, [name for name, _ in found])
    return tuple((name, number(0.0)(f"{option} {name}", [weight])) for name, weight in found)
