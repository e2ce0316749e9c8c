"""How a part of the tests ends: what was skipped, by reason and count, and one line with the part's name.

``pytest --part fast ...`` ends with ``fast: 2337 passed, 21 skipped in 920.12 s``. Whoever runs several parts, and
`.ci/run`, finds in these lines whether each came to its end and how. In continuous integration (``CI`` is set) a part
fails when something was skipped for a reason that `tests/skips.toml` does not list, or when more tests needed a second
try than a busy machine explains; these are counted in the line too (``2 rerun``).
"""

from __future__ import annotations

import os
import re
import time
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

BEGAN = pytest.StashKey[float]()

SKIPS = Path(__file__).parents[1] / "skips.toml"
"""What may be skipped in continuous integration."""


MOST_RERUNS = 12
"""Tests of a part that may need a second try: a busy machine spoils one in some hundred of those that measure."""


def _reruns(terminal: TerminalReporter) -> int:
    return len(terminal.stats.get("rerun", []))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", metavar="NAME", help="end with a line 'NAME: 12 passed in 3.45 s'")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BEGAN] = time.monotonic()


def reasons(skipped: Iterable[pytest.TestReport]) -> Counter[str]:
    """How often each reason was given."""
    found: Counter[str] = Counter()
    for report in skipped:
        # (file, line, reason) where a test or its mark skips
        words = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        found[words.removeprefix("Skipped: ")] += 1
    return found


def unlisted(given: Iterable[str]) -> list[str]:
    """The reasons that the list does not have."""
    patterns = [entry["reason"] for entry in tomllib.loads(SKIPS.read_text())["skip"]]
    return [reason for reason in given if not any(re.fullmatch(pattern, reason) for pattern in patterns)]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    wanted = session.config.getoption("part") is not None and os.environ.get("CI")
    if not wanted or terminal is None or session.exitstatus != pytest.ExitCode.OK:
        return
    if unlisted(reasons(terminal.stats.get("skipped", []))) or _reruns(terminal) > MOST_RERUNS:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    given = reasons(terminalreporter.stats.get("skipped", []))
    if given:
        terminalreporter.line("skipped, by reason:")
    for reason, count in given.most_common():
        terminalreporter.line(f"{count:4} x {reason}")
    if os.environ.get("CI") and _reruns(terminalreporter) > MOST_RERUNS:
        terminalreporter.line(
            f"{_reruns(terminalreporter)} tests were tried again, more than the {MOST_RERUNS} allowed"
        )
    for reason in unlisted(given) if os.environ.get("CI") else ():
        terminalreporter.line(f"skipped, but not allowed: {reason!r} is not in tests/{SKIPS.name}")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line; with xdist only the process that the workers report to has something to say."""
    name, terminal = config.getoption("part"), config.pluginmanager.get_plugin("terminalreporter")
    if name is None or terminal is None or hasattr(config, "workerinput"):
        return
    parts, _ = terminal.build_summary_stats_line()
    print(f"{name}: {', '.join(words for words, _ in parts)} in {time.monotonic() - config.stash[BEGAN]:.2f} s")
