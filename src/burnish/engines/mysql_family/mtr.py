"""The server's own test suite (mtr) as the gate: which parts of a build it needs, its run, and its verdicts."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.base.errors import InfrastructureError
from burnish.base.files import link_or_copy
from burnish.base.workbench import Workbench
from burnish.engines.contract import GateReport
from burnish.engines.mysql_family.product import Product, Suite
from burnish.program.built import Built

SCRIPTS = "scripts"
"""Folder of SQL scripts, in the source and in the build, that mtr's own bootstrap and some tests read."""

TEST_MINUTES = 2
"""mtr's time limit for one test, in its smallest unit; the slowest of ours takes half a minute."""

GATE_SECONDS = 900.0
"""The whole gate's limit; it takes under two minutes on two free cores."""

MOST_AGAIN = 3
"""Tests that may run a second time, at most; more are no accident of a busy machine."""

LIST = "gate-tests.list"
"""File beside the kept tests: each test that was asked for, and whether this version has it."""

_RESULT = re.compile(
    r"^(?:\[ *\d+%\] )?(?P<name>[\w/-]+\.[\w.-]+)(?: '(?P<combination>[^']*)')?\s+(?:w\d+ *)?"
    r"\[ (?:retry-|exp-|opt-)?(?P<verdict>pass|fail|skipped|disabled) \]\s*(?P<rest>.*)$"
)
_TELLING = re.compile(
    r"^(mysqltest: |Failed to start|Server \[|Test failed|.*(?:Lost connection|mismatch|got signal|timed? ?out))"
)
_MTR_ERROR = re.compile(r"^(?:mysql-test-run: \*\*\* ERROR: )(?P<text>.+)$|^(?P<died>Died at .+)$")
_SHUTDOWN = "Errors/warnings were found in logfiles during server shutdown"
_NO_NEWS = "there were failing test cases"  # mtr's last line when tests failed: they are named already


def test_file(suite: Suite, source: Path, name: str) -> Path | None:
    """The file of a test in a source tree; None when there is none.

    Args:
        suite: where its tests are.
        source: the tree; suites are in its ``mysql-test`` and beside the plugins that they test.
        name: ``suite.test``, perhaps with a combination behind a comma.
    """
    folder, stem = split(name)
    places = [suite.main[0]] if folder == "main" else [f"suite/{folder}/t", f"suite/{folder}"]
    candidates = [source / "mysql-test" / place / f"{stem}.test" for place in places]
    for where in ("storage", "plugin"):
        candidates += sorted(source.glob(f"{where}/*/mysql-test/{folder}/{stem}.test"))
    return next((path for path in candidates if path.is_file()), None)


def split(name: str) -> tuple[str, str]:
    """(suite, test) of a test's name, without its combination."""
    suite, _, stem = name.partition(".")
    return suite, stem.partition(",")[0]


def collect(suite: Suite, source: Path, build: Path, place: Path, wanted: Sequence[str]) -> None:
    """Makes the ``mysql-test`` and ``scripts`` that are kept: what the wanted tests need, not other tests' files.

    Args:
        suite: what it consists of.
        source: the source tree.
        build: the build tree, with mtr's own programs in its ``mysql-test``.
        place: folder to make them in, and the test folders of plugins with the path they have.
        wanted: names of the gate's tests.
    """
    tests, target = source / "mysql-test", place / "mysql-test"
    files = {name: test_file(suite, source, name) for name in wanted}
    stems = {split(name)[1] for name in wanted}
    suites = {split(name)[0].partition("/")[0] for name in wanted} - {"main"}

    def unwanted(folder: str, names: list[str]) -> set[str]:
        here = Path(folder)
        if here == tests / "suite":
            # Tests include files of other suites, so those keep their include folders.
            return {name for name in names if name not in suites and not (here / name / "include").is_dir()}
        if here.parent == tests / "suite" and here.name not in suites:
            return {name for name in names if name != "include"}
        if here.name not in (*suite.main, "t", "r"):
            return set()
        return {
            name
            for name in names
            if Path(name).suffix in (".test", ".result", ".rdiff") and re.split("[.,]", name)[0] not in stems
        }

    shutil.copytree(tests, target, symlinks=True, ignore=unwanted)
    for path in files.values():
        if path is not None and not path.is_relative_to(tests):
            folder = path.parent
            shutil.copytree(folder, place / folder.relative_to(source), ignore=unwanted, dirs_exist_ok=True)
    lines = [f"{name} {'present' if files[name] else 'absent'}" for name in wanted]
    (target / LIST).write_text("\n".join(lines) + "\n")
    for program in suite.beside:
        shutil.copy2(build / program, place / program)
    (place / SCRIPTS).mkdir()
    for tree in (source, build):  # what cmake generated wins
        for path in sorted((tree / SCRIPTS).glob("*.sql")):
            shutil.copy2(path, place / SCRIPTS)


def available(suite: Suite, tools: Built, wanted: Sequence[str]) -> list[str]:
    """Those of the wanted tests that this version of the server has, and that call no program that it is without.

    Raises:
        InfrastructureError: the tools were kept for another list of tests.
    """
    path = tools.folder / "mysql-test" / LIST
    known = dict(line.split() for line in path.read_text().splitlines()) if path.is_file() else {}
    strangers = [name for name in wanted if name not in known]
    if strangers:
        raise InfrastructureError(
            f"the kept test suite in {tools.folder} lacks {strangers[0]} ({len(strangers)} tests in all): it was "
            "kept for another list of tests; `burnish clean` removes it, the next run builds it again"
        )
    stand_ins = {Path(link).name.replace("_", "") for link, target in suite.links if target in suite.programs}
    return [name for name in wanted if known[name] == "present" and not stand_ins & _called(suite, tools, name)]


def _called(suite: Suite, tools: Built, name: str) -> set[str]:
    """What a test's script calls by mtr's variables, or may call: their names in small letters, without underscores."""
    script = test_file(suite, tools.folder, name)
    text = script.read_text(encoding="utf-8", errors="replace") if script is not None else ""
    return {word.replace("_", "").lower() for word in re.findall(r"\$([A-Z_]+)", text)}


@dataclass
class Results:
    """The progress of mtr; `see` reads its output line by line.

    Attributes:
        passed: (test, combination) of the tests that passed, in order.
        skipped: the same for tests that could not run.
        failures: (name, one line) of the tests that failed.
    """

    passed: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    _failing: str | None = None
    _at_shutdown: bool = False

    def see(self, line: str) -> None:
        """Reads one line of mtr's output."""
        if match := _RESULT.match(line):
            self._result(match)
        elif self._at_shutdown:
            if line.startswith("    "):
                self._fail_at_shutdown(line.strip())
            elif line and not line.startswith("following sequence"):
                self._at_shutdown = False
        elif line.startswith(_SHUTDOWN):
            self._failing, self._at_shutdown = None, True
        elif match := _MTR_ERROR.match(line):
            text = match["text"] or match["died"]
            if _NO_NEWS not in text:
                self.failures.append(("mtr", text))
        elif self._failing is not None and _TELLING.match(line.strip()):
            self._explain(line.strip())

    def _result(self, match: re.Match[str]) -> None:
        self._failing = None
        key = (match["name"], match["combination"] or "")
        if match["verdict"] == "pass":
            self.passed.append(key)
        elif match["verdict"] == "fail":
            self._failing = " ".join(part for part in key if part)
            self.failures.append((self._failing, match["rest"].strip() or "failed"))
        else:
            self.skipped.append(key)

    def _fail_at_shutdown(self, name: str) -> None:
        """Counts a test after which the server's log had errors, unless it has failed already."""
        if name not in {failed.partition(" ")[0] for failed, _ in self.failures}:
            self.failures.append((name, "errors in the server's log while it was shut down"))

    def _explain(self, text: str) -> None:
        """The first telling line after a failure is its reason."""
        name, so_far = self.failures[-1]
        if so_far == "failed":
            self.failures[-1] = (name, text[:300])

    @property
    def ran(self) -> int:
        """Number of tests that ran to a verdict, each combination for itself."""
        return len(self.passed) + len({name for name, _ in self.failures if name != "mtr"})

    def silent(self, wanted: Iterable[str]) -> list[str]:
        """Which of the wanted tests got no verdict at all."""
        seen = {name for name, _ in (*self.passed, *self.skipped)}
        seen |= {name.partition(" ")[0] for name, _ in self.failures}
        return [name for name in wanted if name.partition(",")[0] not in seen]

    def doubtful(self) -> list[str]:
        """The tests that failed, if they may run a second time: few, and each with an answer that differs.

        Some ask for a plan that the server makes by statistics which it takes in the background, so that the answer
        depends on the machine's pace (``main.range_all`` of MySQL 9.7). A wrong build answers wrongly again. A crash, a
        hang or an error in the log is none of that.
        """
        names = list(dict.fromkeys(name.partition(" ")[0] for name, _ in self.failures))
        answers = all("mismatch" in why for _, why in self.failures)
        return names if answers and len(names) <= MOST_AGAIN else []


def gate(
    product: Product,
    wanted: Sequence[str],
    subject: Built,
    tools: Built,
    place: Path,
    bench: Workbench,
    build_id: str,
) -> GateReport:
    """Runs the wanted tests on `subject`'s server.

    Args:
        product: which server it is.
        wanted: names of tests; those that are not `available` are left out and reported.
        subject: the build that is tested.
        tools: the build that has mtr and its programs.
        place: private scratch folder.
        bench: recorded processes and progress.
        build_id: build id of `subject`'s server, as read from the file.
    """
    began = time.monotonic()
    names = available(product.suite, tools, wanted)
    if len(names) < len(wanted):
        left_out = ", ".join(sorted(set(wanted) - set(names)))
        bench.say(f"not in this version's test suite, or calling a program that is not kept, left out: {left_out}")
    programs = _farm(product, subject, tools, place / "programs")
    parallel = min(8, 2 * len(os.sched_getaffinity(0)))  # tests sleep and wait a lot
    results, failures = _run(product, names, subject, programs, place, bench, parallel)
    again = results.doubtful() if not results.silent(names) else []
    if again:
        bench.say(f"answered otherwise, tried once more, alone: {', '.join(again)}")
        _, failures = _run(product, again, subject, programs, place, bench, 1)
    return GateReport(
        passed=not failures and results.ran > 0,
        tests=results.ran,
        skipped=len(results.skipped),
        failures=tuple(failures),
        build_id=build_id,
        seconds=time.monotonic() - began,
        again=tuple(again) if not failures else (),
    )


def _run(
    product: Product, names: Sequence[str], subject: Built, programs: Path, place: Path, bench: Workbench, parallel: int
) -> tuple[Results, list[tuple[str, str]]]:
    """One call of mtr: what it printed, and each failure of it or of a test with one line."""
    results = Results()
    with _vardir(place) as var:
        words = [
            "perl",
            product.suite.script,
            f"--vardir={var}",
            f"--parallel={parallel}",
            f"--suite={product.suite.first}",
            *product.suite.words,
            "--force",
            "--retry=0",
            "--max-test-fail=5",
            f"--testcase-timeout={TEST_MINUTES}",
            f"--suite-timeout={int(GATE_SECONDS // 60)}",
            *(f"--mysqld-env={name}={value}" for name, value in subject.environment),
            *names,
        ]

        def see(line: str) -> None:
            results.see(line)
            count = len(results.passed) + len(results.skipped) + len(results.failures)
            bench.live(f"{count} test results, {len(results.failures)} failed")

        done = bench.run(
            "mtr",
            words,
            cwd=programs / "mysql-test",
            env={"MTR_BINDIR": str(programs)},
            timeout=GATE_SECONDS + 60,
            on_line=see,
        )
    failures = list(results.failures)
    if not failures and not done.ok:
        why = "took too long and was killed" if done.timed_out else f"ended with exit code {done.exit_code}"
        failures.append(("mtr", f"the test suite {why}"))
    silent = results.silent(names)
    if silent and not failures:
        more = f" and {len(silent) - 1} more" if len(silent) > 1 else ""
        failures.append((silent[0], f"never came to a verdict{more}"))
    return results, failures


def _farm(product: Product, subject: Built, tools: Built, place: Path) -> Path:
    """A tree with the layout of a build: links to the tools' programs and to the subject's server.

    The test suite in it is a copy, because mtr writes beside tests that fail.
    """
    shutil.rmtree(place, ignore_errors=True)
    folder, _, server = product.server.partition("/")
    (place / folder).mkdir(mode=0o700, parents=True)
    for entry in tools.folder.iterdir():
        if entry.name not in (folder, "tests", "mysql-test"):
            (place / entry.name).symlink_to(entry)
    for entry in (tools.folder / folder).iterdir():
        if entry.name != server:
            (place / folder / entry.name).symlink_to(entry)
    (place / product.server).symlink_to(subject.server)
    for link, target in product.suite.links:
        (place / link).parent.mkdir(exist_ok=True)
        (place / link).symlink_to(place / target if target == folder else tools.folder / target)
    shutil.copytree(tools.folder / "mysql-test", place / "mysql-test", symlinks=True, copy_function=link_or_copy)
    return place


@contextlib.contextmanager
def _vardir(place: Path) -> Iterator[Path]:
    """A folder for mtr's servers: in memory where there is room (the tests fsync a lot), gone afterwards.

    Its name tells whose it is, so that what a killed run left is removed by the next one.
    """
    memory = Path("/dev/shm")  # noqa: S108 - a private folder is made in it
    prefix = "burnish-mtr-"
    there = memory.is_dir() and os.access(memory, os.W_OK)
    for old in memory.glob(f"{prefix}*") if there else ():  # first: they may be what takes the room
        owner = old.name.removeprefix(prefix).partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(old, ignore_errors=True)
    roomy = there and shutil.disk_usage(memory).free > 3 << 30
    parent = memory if roomy else place
    folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=parent))
    try:
        yield folder / "var"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
