"""The result of a gate, as a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GateReport:
    """The result of a gate.

    Attributes:
        passed: whether the build may be measured.
        tests: number of tests that ran.
        skipped: number of tests that could not run here.
        failures: names of the tests that failed, with one line each.
        build_id: build id of the program that was tested.
        seconds: wall time.
        left_out: names of tests that were not requested, because the build's options remove what they test; filled in
            by Burnish.
        again: names of tests that answered otherwise at first and as they should when they ran once more, alone: what
            they ask for depends on the machine's pace. They count as passed, and are named.
    """

    passed: bool
    tests: int
    skipped: int
    failures: tuple[tuple[str, str], ...]
    build_id: str
    seconds: float
    left_out: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
