"""Microbenchmarks on small trees whose functions differ by a known amount of work, or in what they return."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from burnish.base import paths
from burnish.base.errors import InfrastructureError, UserError
from burnish.bench.blocks import Times
from burnish.catalogue.micro import Micro, micro, micros, read_micros
from burnish.cli.common import app
from burnish.program import emulation
from burnish.record.events.why import MicroDone
from burnish.record.record import Record
from burnish.report.sections.micro import document
from burnish.study.micro import run as running
from burnish.study.micro.run import Request, Result
from burnish.study.micro.trees import SideRequest
from burnish.toolchain.toolchains import Toolchain
from drawn import drawn

SOURCE = """
unsigned hidden(unsigned);
unsigned work(const unsigned char *data, unsigned size)
{
  unsigned sum= START;
  for (unsigned round= 0; round < ROUNDS; round++)
    for (unsigned place= 0; place < size; place++)
    {
      sum= sum * 31 + data[place];
      __asm__ volatile ("" : "+r" (sum));
      if (place == 0)
        sum= START;
    }
  return size == 0xffffffff ? hidden(sum) : size ? sum : 0;
}
"""
DRIVER = """
#include "micro.h"
#include "work.h"
static unsigned char data[512];
void micro_prepare(void) { micro_fill(data, sizeof data); }
uint64_t micro_check(void) { return micro_mix(CHECK(work(data, 100)), CHECK(work(data, 300))); }
uint64_t micro_run(uint64_t calls, unsigned thread)
{
  uint64_t sum= thread;
  while (calls--)
    sum+= work(data, SIZE);
  return sum;
}
"""
ENTRY = """
[work]
engine = "fake"
does = "A loop over bytes, some rounds of it."
reason = "A function of a test, whose work is known."
driver = "work.c"
like = "lib/work.c"
sources = ["lib/work.c"]
defines = { SIZE = 400, "CHECK(x)" = "(x)" }
never_called = ["hidden"]
"""
TIMES = Times(starts=3, pairs=3, block_s=0.0005)


def make_tree(place: Path, gcc: Toolchain, rounds: int, start: int = 1) -> Path:
    """A configured tree whose function takes so many rounds; each begins anew, so all give the same."""
    (place / "lib").mkdir(parents=True)
    (place / "lib/work.c").write_text(SOURCE)
    (place / "lib/work.h").write_text("unsigned work(const unsigned char *, unsigned);\n")
    command = f"{gcc.cc} -O1 -Ilib -DROUNDS={rounds} -DSTART={start} -o work.o -c lib/work.c"
    entry = {"directory": str(place), "command": command, "file": "lib/work.c"}
    (place / "compile_commands.json").write_text(json.dumps([entry]))
    return place


def entries(folder: Path, text: str = ENTRY, driver: str = DRIVER) -> dict[str, Micro]:
    (folder / "mine").mkdir(exist_ok=True)
    (folder / "mine/work.c").write_text(driver)
    path = folder / "mine.toml"
    path.write_text(text)
    return read_micros(path)


def request(one: Path, other: Path, known: dict[str, Micro], **values: Any) -> Request:
    sides = (SideRequest(str(one)), SideRequest(str(other)))
    return Request(names=(), sides=sides, known=known, **{"times": TIMES, **values})


def run(asked: Request) -> Result:
    return running.micro(paths.home(), asked, Console(stderr=True, quiet=True), None)


def test_the_side_with_less_work_is_faster(gcc: Toolchain, tmp_path: Path) -> None:
    slow, fast = make_tree(tmp_path / "slow", gcc, 120), make_tree(tmp_path / "fast", gcc, 3)
    result = run(request(slow, fast, entries(tmp_path)))
    (outcome,) = result.outcomes
    assert outcome.judgement is not None
    assert outcome.judgement.interval is not None
    assert outcome.judgement.interval.ratio > 1.5
    assert outcome.judgement.kind.value in ("faster", "undecided")
    assert not outcome.identical
    assert [len(start.log_ratios) for start in outcome.starts] == [TIMES.pairs] * TIMES.starts
    with closing(Record(result.folder)) as record:
        noted = record.last(MicroDone)
        assert noted is not None
        assert len(noted.event.readings) == TIMES.starts
        assert noted.event.interval is not None
        assert noted.event.interval.ratio == pytest.approx(outcome.judgement.interval.ratio)
    (other,) = run(request(fast, slow, entries(tmp_path))).outcomes
    assert other.judgement is not None
    assert other.judgement.interval is not None
    assert other.judgement.interval.ratio < 1 / 1.5


def test_the_same_machine_code_is_not_timed(gcc: Toolchain, tmp_path: Path) -> None:
    one, other = (make_tree(tmp_path / name, gcc, 3) for name in ("one", "other"))
    (outcome,) = run(request(one, other, entries(tmp_path))).outcomes
    assert outcome.identical
    assert outcome.judgement is None
    assert outcome.starts == ()


def test_a_result_that_differs_is_refused_before_anything_is_timed(gcc: Toolchain, tmp_path: Path) -> None:
    one, other = make_tree(tmp_path / "one", gcc, 3), make_tree(tmp_path / "other", gcc, 3, start=2)
    said = r"work: A \(.*/one\) gives \w+ and B \(.*/other\) gives \w+ .*nothing was timed"
    with pytest.raises(UserError, match=said):
        run(request(one, other, entries(tmp_path)))
    (folder,) = (paths.home().root / "micro").iterdir()
    with closing(Record(folder)) as record:
        assert record.last(MicroDone) is None


def test_a_difference_that_the_check_overlooks_shows_in_the_blocks(gcc: Toolchain, tmp_path: Path) -> None:
    one, other = make_tree(tmp_path / "one", gcc, 3), make_tree(tmp_path / "other", gcc, 3, start=2)
    known = entries(tmp_path, ENTRY.replace('"(x)"', '"0 * (x)"'))
    with pytest.raises(UserError, match=r"calls returned \w+ in A .* and \w+ in B .*do not do the same"):
        run(request(one, other, known))


def test_objects_are_the_trees_own(gcc: Toolchain, tmp_path: Path) -> None:
    slow, fast = make_tree(tmp_path / "slow", gcc, 3), make_tree(tmp_path / "fast", gcc, 3)
    # The object that is there was made with more rounds than the database says today.
    words = [str(gcc.cc), "-O1", "-DROUNDS=120", "-DSTART=1", "-o", "work.o", "-c", "lib/work.c"]
    subprocess.run(words, cwd=slow, check=True)
    (outcome,) = run(request(slow, fast, entries(tmp_path))).outcomes
    assert outcome.judgement is not None
    assert outcome.judgement.interval is not None
    assert outcome.judgement.interval.ratio > 1.5


def test_threads_call_at_once(gcc: Toolchain, tmp_path: Path) -> None:
    slow, fast = make_tree(tmp_path / "slow", gcc, 120), make_tree(tmp_path / "fast", gcc, 3)
    known = entries(tmp_path, f"{ENTRY}threads = 3\n")
    (outcome,) = run(request(slow, fast, known)).outcomes
    assert outcome.threads == 3
    assert outcome.judgement is not None
    assert outcome.judgement.interval is not None
    assert outcome.judgement.interval.ratio > 1.5
    assert (outcome.call_ns(0) or 0) > (outcome.call_ns(1) or 0) > 0


def test_a_function_that_reaches_what_it_must_not_ends_with_words(gcc: Toolchain, tmp_path: Path) -> None:
    one, other = make_tree(tmp_path / "one", gcc, 3), make_tree(tmp_path / "other", gcc, 4)
    known = entries(tmp_path, driver=DRIVER.replace("work(data, 100)", "work(data, 0xffffffff)"))
    reaches = "unsigned hidden(unsigned); unsigned work(char *data, unsigned size) { return hidden(size); }\n"
    (one / "lib/work.c").write_text(reaches)
    said = r"A \(.*\): its program ended with exit code -\d+ at the command check"
    with pytest.raises(InfrastructureError, match=said):
        run(request(one, other, known))


def test_a_source_that_does_not_compile_is_told_with_its_log(gcc: Toolchain, tmp_path: Path) -> None:
    one, other = make_tree(tmp_path / "one", gcc, 3), make_tree(tmp_path / "other", gcc, 4)
    (other / "lib/work.c").write_text("nonsense\n")
    with pytest.raises(InfrastructureError, match=r"compiling work\.c") as raised:
        run(request(one, other, entries(tmp_path)))
    assert raised.value.log is not None
    assert "nonsense" in raised.value.log.read_text()


def test_what_can_be_no_side_is_refused(gcc: Toolchain, tmp_path: Path) -> None:
    one, known = make_tree(tmp_path / "one", gcc, 3), entries(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UserError, match=r"empty: holds neither compile_commands\.json nor CMakeLists\.txt"):
        run(request(one, empty, known))
    patch = SideRequest(str(one), ("patches/arm-2020/crc32c-hardware",))
    with pytest.raises(UserError, match="is a build folder, and patches go into sources"):
        run(Request(names=(), sides=(SideRequest(str(one)), patch), known=known, times=TIMES))
    with pytest.raises(UserError, match=r"unknown microbenchmark 'wrok' \(did you mean 'work'\?\)"):
        run(Request(names=("wrok",), sides=(patch, patch), known=known))
    with pytest.raises(UserError, match=r"unknown architecture of --cross-check 'aarch46'"):
        run(request(one, one, known, check="aarch46"))


def test_a_tree_that_lacks_a_generated_file_is_refused(gcc: Toolchain, tmp_path: Path) -> None:
    one = make_tree(tmp_path / "one", gcc, 3)
    known = entries(tmp_path, ENTRY.replace("never_called", 'generated = { "lib/made.h" = "made" }\nnever_called'))
    with pytest.raises(UserError, match=r"lacks lib/made\.h; build that first: .ninja made"):
        run(request(one, one, known))
    (one / "lib/made.h").write_text("")
    assert run(request(one, one, known)).outcomes[0].identical


def test_results_are_checked_on_another_architecture(gcc: Toolchain, tmp_path: Path) -> None:
    if shutil.which("aarch64-linux-gnu-g++") is None or emulation.find("aarch64") is None:
        pytest.skip("no cross compiler and emulator for aarch64 (group cross-aarch64)")
    slow, fast = make_tree(tmp_path / "slow", gcc, 120), make_tree(tmp_path / "fast", gcc, 3)
    (outcome,) = run(request(slow, fast, entries(tmp_path), check="aarch64")).outcomes
    assert outcome.elsewhere.startswith("aarch64: same results (qemu-aarch64 version")
    for tree in (slow, fast):  # there alone it gives something else
        text = SOURCE.replace("sum= START;\n  for", "sum= START;\n#ifdef __aarch64__\n  size--;\n#endif\n  for")
        (tree / "lib/work.c").write_text(text)
    with pytest.raises(UserError, match=r"gives \w+ here and \w+ on aarch64"):
        run(request(slow, fast, entries(tmp_path), check="aarch64"))


def test_the_table_fits_a_terminal(gcc: Toolchain, tmp_path: Path) -> None:
    slow, fast = make_tree(tmp_path / "slow", gcc, 120), make_tree(tmp_path / "fast", gcc, 3)
    result = run(request(slow, fast, entries(tmp_path)))
    text = drawn(document(result))
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "work" in text
    assert "of this one sitting, and another may differ by more" in " ".join(text.split())
    assert json.loads(json.dumps(result.as_dict()))["results"][0]["micro"] == "work"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('reason = "A function of a test, whose work is known."', "", "work: reason"),
        ('driver = "work.c"', 'driver = "other.c"', "there is no file mine/other.c"),
        ('driver = "work.c"', 'driver = "work.py"', "ends in .c, .cc or .cpp"),
        ("never_called", "never_caled", "did you mean 'never_called'"),
    ],
)
def test_an_entry_that_says_too_little_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(UserError, match=said.replace(".", r"\.")):
        entries(tmp_path, ENTRY.replace(old, new))


def test_the_shipped_ones_say_what_they_need() -> None:
    assert {"crc32c", "crc32", "my_convert", "counter", "spin-wait"} <= set(micros())
    for each in micros().values():
        assert len(each.reason) > 40
        assert each.cross.keys() <= {"aarch64"}
    assert "mysys/crc32/crc32_arm64.c" in micro("crc32c").sources_on("aarch64")
    assert "mysys/crc32/crc32_arm64.c" not in micro("crc32c").sources_on("x86_64")


def test_the_verb_lists_and_refuses() -> None:
    listed = CliRunner().invoke(app, ["micro", "--list", "--json"], catch_exceptions=False)
    assert {each["micro"] for each in json.loads(listed.output)["micros"]} == set(micros())
    plain = CliRunner().invoke(app, ["micro", "--list"], env={"COLUMNS": "80"}, catch_exceptions=False)
    assert "my_convert" in plain.output
    with pytest.raises(UserError, match="unknown microbenchmark 'crc33c'"):
        CliRunner().invoke(app, ["micro", "crc33c"], catch_exceptions=False)
