"""What a search is for, as a user asks for it: a quantity, or a response time at a fixed rate; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnish.base.errors import UserError
from burnish.model.quantity import CAPACITY, LATENCIES, THROUGHPUT
from burnish.workload.loads import RATE

_RATE = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True)
class Aim:
    """What is to become better.

    Attributes:
        quantity: name of the quantity; None: the one that the design measures.
        rate: transactions per second of each load, as text; '' for as many as the server can do.
    """

    quantity: str | None = None
    rate: str = ""

    @property
    def waits(self) -> bool:
        """Whether it is a response time, which the other side's server must not lengthen."""
        return self.quantity in [one.name for one in LATENCIES]

    def load(self, word: str) -> str:
        """A load as it was asked for (``oltp_insert:tables=4``), at the rate."""
        if not self.rate:
            return word
        return f"{word}{',' if ':' in word else ':'}{RATE}={self.rate}"


def aim_of(text: str | None, option: str = "--objective") -> Aim:
    """What an option's text asks for.

    Raises:
        UserError: there is no such quantity, a response time has no rate, or throughput has one.
    """
    if text is None:
        return Aim()
    name, at, rate = text.partition("@")
    timed = [one.name for one in LATENCIES]
    allowed = "give capacity, throughput, or capacity@RATE, p95@RATE, p99@RATE with transactions a second"
    if name not in (CAPACITY.name, THROUGHPUT.name, *timed):
        raise UserError(f"{option} {text}: there is no such quantity; {allowed}")
    if name == THROUGHPUT.name and at:
        raise UserError(f"{option} {text}: at a fixed rate every build has the same throughput; {allowed}")
    if name in timed and not at:
        raise UserError(f"{option} {text}: a full server's response time only says how many wait for it; {allowed}")
    if at and (_RATE.fullmatch(rate) is None or float(rate) <= 0.0):
        raise UserError(f"{option} {text}: {rate!r} is no rate; {allowed}, as in {name}@400")
    return Aim(name, rate)
