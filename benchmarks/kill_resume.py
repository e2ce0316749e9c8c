"""kill -9 at ten points of a study, the same command again each time, and what came of it.

    python benchmarks/kill_resume.py tune mariadb --precision none --max-starts 3

Runs `python -m burnish WORDS` in the home that BURNISH_HOME names (take an empty one), waits for each of the
points below in turn, kills the process with SIGKILL, looks for anything that it left running, and gives the same
command again. After the last point the command is let through. Prints a Markdown table: what was killed, what was
left behind, which finished steps were done again (there should be none), and the outcome.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from burnish.base import process, warden
from burnish.record.record import Record
from burnish.report.contents import document
from burnish.report.render.markdown import markdown
from burnish.report.result import fold

POINTS = (
    # (what a line of progress must match, seconds later, in words)
    (r"baseline: compile", 10.0, "while the baseline is configured"),
    (r"baseline: compile", 90.0, "while the baseline is compiled"),
    (r"dataset", 4.0, "while the dataset is prepared"),
    (r"baseline: gate", 15.0, "in the baseline's gate"),
    (r"pgo\S*: instrumented", 60.0, "while the instrumented build is compiled"),
    (r"pgo\S*: training", 20.0, "in training"),
    (r"pgo\S*: with profile", 60.0, "while the profiled build is compiled"),
    (r"bolt: BOLT training", 20.0, "in BOLT's training"),
    (r"start 1 of", 9.0, "in the first start of a trial"),
    (r"start 3 of", 12.0, "in a later start of a trial"),
)


def run_until(words: list[str], pattern: str, later: float) -> tuple[bool, int, list[str]]:
    """Runs the command and kills it `later` s after a line matches; (killed, pid, lines seen)."""
    child = subprocess.Popen(
        [sys.executable, "-m", "burnish", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    lines = []
    assert child.stderr is not None
    for line in child.stderr:
        lines.append(line.rstrip())
        print(f"    | {lines[-1]}", file=sys.stderr, flush=True)
        if re.search(pattern, re.sub(r"^\[\d+/\d+\] ", "", lines[-1])) and "done in" not in line:
            time.sleep(later)
            if child.poll() is None:
                os.kill(child.pid, signal.SIGKILL)
                child.wait()
                return True, child.pid, lines
    child.wait()
    return False, child.pid, lines


def left_behind(pid: int) -> list[str]:
    """Names of processes that still bear the killed run's mark after 3 seconds."""
    time.sleep(3)
    found = []
    for other, mark in warden.marked(process.RUN_VARIABLE):
        if mark.startswith(f"{pid}-"):
            found.append(Path(f"/proc/{other}/comm").read_text().strip())
    return found


def main(words: list[str]) -> int:
    home = Path(os.environ["BURNISH_HOME"])
    rows, finished = [], Counter[str]()
    for pattern, later, what in POINTS:
        killed, pid, lines = run_until(words, pattern, later)
        left = left_behind(pid) if killed else []
        done = [line.partition("] ")[2].partition(": done in")[0] for line in lines if ": done in" in line]
        finished.update(step for step in done if step and "start " not in step)
        rows.append((what, "yes" if killed else "not reached", ", ".join(left) or "nothing", len(done)))
        if not killed:
            break
    _, pid, lines = run_until(words, r"\Anever\Z", 0)
    done = [line.partition("] ")[2].partition(": done in")[0] for line in lines if ": done in" in line]
    finished.update(step for step in done if step and "start " not in step)
    print("| killed with SIGKILL | killed | left running 3 s later | steps finished before it |")
    print("| --- | --- | --- | --- |")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    again = [step for step, count in finished.items() if count > 1 and step != "source"]
    print(f"\nFinished steps that were done again: {', '.join(again) or 'none'}.\n")
    (folder,) = (home / "studies").glob("*")
    with closing(Record(folder)) as record:
        print(markdown(document(fold(record.events()))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
