"""The fake engine's gate: requests with known answers, asked of the very server that will be measured."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from burnish.base import process
from burnish.base.workbench import Workbench
from burnish.program.built import Built

SOCKET = "socket"
ANSWERING = "? ready"
DATA = b"What is asked here has one right answer.\n"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
BOOT_S = 60.0
"""Seconds that an emulated server may take until it answers."""

ANSWER_S = 60.0
"""Seconds that an answer may take before the test fails."""


class _UnsupportedError(Exception):
    """A test that can't run with this build's features."""


@dataclass
class Outcome:
    """What ran.

    Attributes:
        ran: number of tests that ran.
        skipped: number of tests that could not.
        failures: (test, one line) of each that failed.
    """

    ran: int = 0
    skipped: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class _Subject:
    server: subprocess.Popen[bytes]
    place: Path
    data: Path

    def ask(self, requests: str) -> list[str]:
        """Sends all requests at once and returns as many lines."""
        with _connected(self.place) as connection:
            connection.sendall(requests.encode())
            with connection.makefile("r", encoding="ascii", errors="replace") as answers:
                return [answers.readline().rstrip("\n") for _ in requests]


def checksum(letter: str, data: bytes) -> str:
    """The answer to `letter` from a server with `data`: FNV-1a of both, 64 bits, hexadecimal (RFC 9923)."""
    value = 0xCBF29CE484222325
    for byte in letter.encode() + data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def ask(place: Path, requests: str) -> str:
    """The first line of the server's answer at `place`; '' if there is none."""
    try:
        with _connected(place) as connection:
            connection.sendall(requests.encode())
            with connection.makefile("r", encoding="ascii", errors="replace") as answers:
                return answers.readline().rstrip("\n")
    except OSError:
        return ""


def _connected(place: Path) -> socket.socket:
    """A connection to the socket in `place`, whose path may be longer than a socket's name may be."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(ANSWER_S)
    folder = os.open(place, os.O_PATH | os.O_DIRECTORY)
    try:
        connection.connect(f"/proc/self/fd/{folder}/{SOCKET}")
    except OSError:
        connection.close()
        raise
    finally:
        os.close(folder)
    return connection


def answers_under(built: Built, place: Path, launcher: Sequence[str]) -> str | None:
    """Starts the server behind `launcher` in `place` and asks it for a checksum; why it is not right, or None."""
    (place / "data").write_bytes(DATA)
    with (place / "server.log").open("ab") as log:
        server = process.start(
            [*launcher, built.server.resolve(), SOCKET, "data"],
            cwd=place,
            env=dict(built.environment),
            stdout=log.fileno(),
        )
    try:
        deadline = time.monotonic() + BOOT_S
        while not (answer := ask(place, "a")):
            if server.poll() is not None:
                how = f"signal {-server.returncode}" if server.returncode < 0 else f"exit code {server.returncode}"
                return f"the server ended with {how}"
            if time.monotonic() > deadline:
                return f"no answer within {BOOT_S:g} s"
            time.sleep(0.02)
        right = f"a {checksum('a', DATA)}"
        return None if answer == right else f"asked for a checksum it said {answer!r} instead of {right!r}"
    finally:
        process.stop(server, patience=1.0)


def run_tests(built: Built, names: Sequence[str], place: Path, bench: Workbench) -> Outcome:
    """Starts the server on data of the gate's own in `place` and runs the tests in order.

    A server that is dead or silent ends the row: the test that found it so is the one to name.
    """
    outcome = Outcome()
    data = place / "gate.data"
    data.write_bytes(DATA)
    (place / SOCKET).unlink(missing_ok=True)
    with (place / "server.log").open("ab") as log:
        server = process.start(
            [built.server.resolve(), SOCKET, data.resolve()],
            cwd=place,
            env=dict(built.environment),
            stdout=log.fileno(),
        )
    try:
        for number, name in enumerate(names, 1):
            bench.live(f"gate [{number}/{len(names)}] {name}", (number - 1) / len(names))
            over = False
            try:
                wrong = _TESTS[name](_Subject(server, place, data))
            except _UnsupportedError:
                outcome.skipped += 1
                continue
            except TimeoutError:
                wrong, over = f"no answer within {ANSWER_S:g} s", True
            except OSError as error:
                wrong, over = f"the server can't be reached ({error.strerror or error})", True
            outcome.ran += 1
            if wrong:
                outcome.failures.append((name, wrong))
            if over or server.poll() is not None:
                break
    finally:
        process.stop(server, patience=1.0)
    return outcome


def _starts(subject: _Subject) -> str:
    deadline = time.monotonic() + ANSWER_S
    while ask(subject.place, "?") != ANSWERING:
        if subject.server.poll() is not None:
            return f"the server ended with exit code {subject.server.returncode} while starting"
        if time.monotonic() > deadline:
            return f"not ready after {ANSWER_S:g} s"
        time.sleep(0.01)
    return ""


def _answers(subject: _Subject) -> str:
    for letter, answer in zip(LETTERS, subject.ask(LETTERS), strict=True):
        expected = f"{letter} {checksum(letter, DATA)}"
        if answer != expected:
            return f"asked {letter!r}: expected {expected!r}, found {answer!r}"
    return ""


def _ordering(subject: _Subject) -> str:
    asked = "zebra" * 4
    order = "".join(line[:1] for line in subject.ask(asked))
    return "" if order == asked else f"asked {asked!r} at once: answered in the order {order!r}"


def _survives(subject: _Subject) -> str:
    for _ in range(3):  # connections that hang up without waiting for their answers
        with _connected(subject.place) as connection:
            connection.sendall(b"abc")
    answers = subject.ask("%a")
    if answers[0] != "! unknown request":
        return f"asked something unknown: found {answers[0]!r}"
    return "" if answers[1].startswith("a ") else f"after that asked 'a': found {answers[1]!r}"


def _writes(subject: _Subject) -> str:
    before = subject.data.read_bytes()
    answers = subject.ask("WW")
    after = subject.data.read_bytes()
    if [line[:2] for line in answers] != ["W ", "W "]:
        return f"asked to write twice: found {answers!r}"
    if after[: len(before)] != before or after[len(before) :] != b"%015d\n" % 2:
        return f"after two writes the data end in {after[-16:]!r}"
    return ""


def _statistics(subject: _Subject) -> str:
    (first,) = subject.ask("S")
    if first == "! unknown request":
        raise _UnsupportedError
    name, _, count = first.partition(" ")
    # Connections that hung up may still be at work: the count is at least what was surely answered.
    known = len(LETTERS)
    if name == "S" and count.removesuffix(" requests").isdigit() and int(count.split()[0]) >= known:
        return ""
    return f"after more than {known} requests: found {first!r}"


def _ends(subject: _Subject) -> str:
    with suppress(ProcessLookupError):
        os.kill(subject.server.pid, signal.SIGTERM)
    try:
        code = subject.server.wait(ANSWER_S)
    except subprocess.TimeoutExpired:
        return f"still there {ANSWER_S:g} s after SIGTERM"
    return "" if code == 0 else f"ended with exit code {code} instead of 0"


_TESTS: dict[str, Callable[[_Subject], str]] = {
    "starts": _starts,
    "answers": _answers,
    "ordering": _ordering,
    "survives": _survives,
    "writes": _writes,
    "statistics": _statistics,
    "ends": _ends,
}
"""Every test returns what went wrong in one line, or '' when nothing did."""
