"""SQLite's gate: its own test programs, run by the very program that will be measured.

The checks run in parallel under make, each writing a file. Results are compared with known answers, or with those of
the baseline when the gate's data were made. A trace holds every row of some thousand fuzzer-made SQL
scripts, run with the clock standing still: a build that answers one of them differently is seen, where fuzzcheck
itself only looks for crashes and leaks. (Malformed databases are not traced: their rows may be what happened to
lie in memory.)
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from burnish.base.errors import InfrastructureError
from burnish.base.workbench import Workbench
from burnish.program.built import Built

CHECK_S = 120
"""Seconds after which one check is killed; the longest takes five on an idle machine."""

SPEEDTEST_SIZE = 10
_FUZZ_NAME = re.compile(r"(fuzz|trace)-(\d+)")
_ANSWER = re.compile(r"^.*?SELECT '([^']+)'.*; -- = (.*)$", re.MULTILINE)
_PASSING = ":[0-9A-F]{6,}|0x[0-9a-f]{6,}| seconds$|COMPILER=|Peak memory"
"""Lines of a trace that may differ between runs and builds: addresses, how long it took, the compiler's name."""

_OF_THE_WORD = "^cache_spill = INT "
"""Lines of a trace that follow from the size of a pointer: how many pages with their headers make 2 MB."""


@dataclass(frozen=True)
class CheckResult:
    """The result of a check.

    Attributes:
        failure: why it failed by itself, or None.
        result: what must be the same in every build: a hash or a digest; '' when nothing is compared.
        portable: the same without what depends on the word size; '' if there is nothing to compare.
    """

    failure: str | None
    result: str
    portable: str = ""


PORTABLE = "{} in any word size"
"""Name of a check's portable result among the expected ones."""


def expectations(results: Mapping[str, CheckResult]) -> dict[str, str]:
    """By check, the result that all other builds must have, from the baseline's results."""
    plain = {name: item.result for name, item in results.items()}
    return plain | {PORTABLE.format(name): item.portable for name, item in results.items() if item.portable}


def answers_sql() -> str:
    """The statements with known answers."""
    return (resources.files("burnish.engines.sqlite") / "answers.sql").read_text()


def known_answers(sql: str) -> dict[str, str]:
    """The answers that the comments of `sqlite_answers.sql` give, by the check's name."""
    return {match[1]: match[2] for match in _ANSWER.finditer(sql)}


def fuzz_data(tests: Sequence[str]) -> list[str]:
    """Names of the fuzz databases that the gate's tests need."""
    numbers = [match[2] for name in tests if (match := _FUZZ_NAME.fullmatch(name))]
    return [f"fuzzdata{number}.db" for number in dict.fromkeys(numbers)]


def run_checks(
    program: Path,
    environment: Mapping[str, str],
    tests: Sequence[str],
    data: Path,
    place: Path,
    bench: Workbench,
) -> dict[str, CheckResult]:
    """Runs the checks, as many at a time as there are cores, and reads their results.

    Args:
        program: the program to test.
        environment: variables to launch it with.
        tests: names of the checks.
        data: folder of the fuzz databases.
        place: private folder for what the checks write.
        bench: recorded processes.
    """
    (place / "answers.sql").write_text(answers_sql())
    rules = [f"all: {' '.join(tests)}", f".PHONY: all {' '.join(tests)}"]
    for name in tests:
        line = f"({_commands(name, program, environment, data)}) > {name}.out 2>&1; echo $? > {name}.exit"
        if name.startswith("trace-"):
            passing, word = shlex.quote(_PASSING), shlex.quote(f"{_PASSING}|{_OF_THE_WORD}")
            line += f"; grep -avE {passing} {name}.out | sha256sum > {name}.sum"
            line += f"; grep -avE {word} {name}.out | sha256sum > {name}.word-sum"
            line += f"; tail -n 20 {name}.out > {name}.end; mv {name}.end {name}.out"  # it is 67 MB
        rules.append(f"{name}:\n\t@{line.replace('$', '$$')}")
    (place / "gate.mk").write_text("\n".join(rules) + "\n")
    jobs = len(os.sched_getaffinity(0))
    done = bench.run(
        "gate",
        ["make", "-k", f"-j{jobs}", "-f", "gate.mk"],
        cwd=place,
        # HOME: the shell would read the user's own settings. LC_ALL: grep takes bytes, and quickly.
        env={"HOME": str(place), "MAKEFLAGS": "", "LC_ALL": "C", "TZ": "UTC"},
        timeout=CHECK_S * len(tests),
    )
    done.check("running the gate's checks")
    return {name: _read(name, place) for name in tests}


def _commands(name: str, program: Path, environment: Mapping[str, str], data: Path) -> str:
    """A check's shell commands; `environment` is the program's alone: what it preloads is not make's to load."""
    given = ["env", *(f"{variable}={value}" for variable, value in environment.items())] if environment else []

    def call(*words: object) -> str:
        return shlex.join(["timeout", "-s", "KILL", str(CHECK_S), *given, str(program), *map(str, words)])

    if name == "answers":
        return f"{call('shell', '-batch', ':memory:')} < answers.sql"
    if name == "kvtest":
        make = call("kvtest", "init", "kv.db", "--count", 1000, "--size", 3000, "--variance", 2900)
        read = call("kvtest", "run", "kv.db", "--random", "--count", 5000, "--integrity-check")
        change = call("kvtest", "run", "kv.db", "--count", 1000, "--update", "--nosync", "--integrity-check")
        return f"{make} && {read} && {change}"
    if name.startswith("speedtest1-"):
        chosen = name.removeprefix("speedtest1-")
        where = ("--nosync", "--journal", "wal", "speedtest1.db") if chosen == "file" else ("--memdb",)
        tests = "main" if chosen == "file" else chosen
        return call("speedtest1", "--verify", "--size", SPEEDTEST_SIZE, "--testset", tests, *where)
    if match := _FUZZ_NAME.fullmatch(name):
        file = data / f"fuzzdata{match[2]}.db"
        if match[1] == "fuzz":
            return call("fuzzcheck", "-q", file)
        # Five times -v: every row of every statement.
        return call("still", "fuzzcheck", "-v", "-v", "-v", "-v", "-v", "--result-trace", file)
    raise InfrastructureError(f"sqlite/engine.toml: gate_tests: unknown check {name!r}")


def _read(name: str, place: Path) -> CheckResult:
    """The result of a check, from its files."""
    code = (place / f"{name}.exit").read_text().strip()
    text = (place / f"{name}.out").read_text(encoding="utf-8", errors="replace")
    if name == "answers":
        return CheckResult(wrong_answer(text), "")  # its exit code has no further information
    if code != "0":
        words = text.strip().splitlines()
        how = f"took more than {CHECK_S} s and was killed" if code == "137" else f"ended with exit code {code}"
        return CheckResult(f"{how}: {words[-1][:200] if words else 'it said nothing'}", "")
    if name == "kvtest":
        verdicts = re.findall(r"^integrity-check: (.*)$", text, re.MULTILINE)
        return CheckResult(
            None if verdicts == ["ok", "ok"] else f"integrity check said {'; '.join(verdicts)[:200]}", ""
        )
    if name.startswith("speedtest1-"):
        match = re.search(r"^Verification Hash: (.+)$", text, re.MULTILINE)
        return CheckResult(None, match[1]) if match else CheckResult("no verification hash", "")
    if not name.startswith("trace-"):
        return CheckResult(None, "")
    plain, portable = (place / f"{name}.sum").read_text(), (place / f"{name}.word-sum").read_text()
    return CheckResult(None, plain.split()[0], portable.split()[0])


def wrong_answer(text: str) -> str | None:
    """The first check of the SQL script whose answer is not the known one."""
    got = dict(line.partition("|")[::2] for line in text.splitlines())
    for name, answer in known_answers(answers_sql()).items():
        if name not in got:
            errors = [line for line in text.splitlines() if "error" in line.lower()]
            return f"{name}: no answer{': ' + errors[0][:200] if errors else ''}"
        if got[name] != answer:
            return f"{name}: expected {answer}, got {got[name][:200]}"
    return None


def judge(
    results: Mapping[str, CheckResult], expected: Mapping[str, str], *, comparable: bool, same_word: bool = True
) -> tuple[list[tuple[str, str]], int]:
    """(test, why) of each failure, and how many checks could not be done.

    Args:
        results: of the checks, by name.
        expected: the baseline's results, by check.
        comparable: whether the baseline has the same feature set; traces name what is missing, so that they
            differ otherwise. speedtest1 uses nothing that a feature set may lack.
        same_word: whether the baseline has the same word size; otherwise what follows from it is left out, and a
            trace is skipped if the baseline was built before that result was kept separately.
    """
    failures, skipped = [], 0
    for name, item in results.items():
        if item.failure is not None:
            failures.append((name, item.failure))
        elif name.startswith("trace-") and not comparable:
            skipped += 1
        elif item.portable and not same_word:
            known = expected.get(PORTABLE.format(name))
            skipped += known is None
            if known not in (None, item.portable):
                failures.append((name, f"its results differ from the baseline's ({item.portable[:24]}…)"))
        elif item.result != expected.get(name, ""):
            failures.append((name, f"its results differ from the baseline's ({item.result[:24]}…)"))
    return failures, skipped


def folder_of(tools: Built) -> Path:
    """Where the build made with tools keeps the gate's data; InfrastructureError when it has none."""
    folder = tools.folder / "gate"
    if not (folder / "expected.json").is_file():
        raise InfrastructureError(f"{tools.name}: was built without the gate's data ({folder})")
    return folder
