"""How a part of the tests ends: what was skipped, by reason and count, and one line with the part's name.

``pytest --part fast ...`` ends with ``fast: 2337 passed, 21 skipped in 920.12 s``. Whoever runs several parts, and
`.ci/run`, finds in these lines whether each came to its end and how.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

import pytest
from _pytest.terminal import TerminalReporter

BEGAN = pytest.StashKey[float]()


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


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    found = reasons(terminalreporter.stats.get("skipped", []))
    if found:
        terminalreporter.line("skipped, by reason:")
    for reason, count in found.most_common():
        terminalreporter.line(f"{count:4} x {reason}")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line; with xdist only the process that the workers report to has something to say."""
    name, terminal = config.getoption("part"), config.pluginmanager.get_plugin("terminalreporter")
    if name is None or terminal is None or hasattr(config, "workerinput"):
        return
    parts, _ = terminal.build_summary_stats_line()
    print(f"{name}: {', '.join(words for words, _ in parts)} in {time.monotonic() - config.stash[BEGAN]:.2f} s")
