"""What a second build worker is worth: a ladder of six slow builds on one worker, and on three, as a table in Markdown.

Real workers, each in a network namespace with a home of its own, on the fake engine. Its compiler sleeps for so many
seconds in each build, as one on another machine would take them from nobody here, so that this machine's cores are no
limit. One worker builds and measures; of three, two build and one measures. Needs root.

Usage: hosts_speedup.py [--seconds N]    (python3 -m burnish must be this checkout's)
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from pathlib import Path

from hosts_cast import Cast, network

RATES = (110, 120, 130, 140, 150)
STUDY = ("--starts", "2", "--design", "duet", "--pairs", "1", "--layouts", "0")
ONE = {"one": "both"}
THREE = {"one": "builds", "two": "builds", "three": "trials"}
_COMPILER = """#!/bin/sh
case " $* " in *" -E "*) ;; *" -c "*fake_work.c*) sleep {seconds} ;; esac
exec /usr/bin/{name} "$@"
"""
_TURN_S = 0.1


def recipes() -> str:
    """The ladder's builds beside the baseline."""
    return "\n".join(
        f'[speed{rate}]\nreason = "Known truth: {rate} % of the baseline."\nrecipe = {{ c = ["-DFAKE_SPEED={rate}"] }}'
        for rate in RATES
    )


def slow_compilers(place: Path, seconds: float) -> str:
    """Writes compilers that sleep before they compile the server's work; returns a PATH that begins with them."""
    place.mkdir()
    for program in sorted(Path("/usr/bin").glob("gcc*")):
        if re.fullmatch(r"gcc(-\d+)?", program.name):
            (place / program.name).write_text(_COMPILER.format(seconds=seconds, name=program.name))
            (place / program.name).chmod(0o755)
    return f"{place}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


def played(workers: dict[str, str], seconds: float) -> tuple[float, float]:
    """Seconds until the trials began, and until the report was printed."""
    with tempfile.TemporaryDirectory(prefix="burnish-hosts-") as folder, network(tuple(workers)):
        cast = Cast(Path(folder))
        (cast.root / "own.toml").write_text(recipes())
        path = slow_compilers(cast.root / "bin", seconds)
        cast.variables |= {name: {"PATH": path} for name in workers}
        try:
            cast.scheduler()
            cast.until("scheduler", "burnish worker")
            for name, work in workers.items():
                cast.worker(name, work=work)
            for name in workers:
                cast.until(name, "connected to")
            variants = ",".join(["baseline", *(f"speed{rate}" for rate in RATES)])
            measuring = next(name for name, work in workers.items() if work != "builds")
            words = ["tune", "fake", "--recipes", "own.toml", *STUDY, "--variant", variants, "--hosts", measuring]
            began, trials = time.monotonic(), 0.0
            cast.start("driver", words)
            while cast.running["driver"].poll() is None:
                if not trials and ": trials of" in cast.log("driver"):
                    trials = time.monotonic() - began
                time.sleep(_TURN_S)
            total = time.monotonic() - began
            said = cast.log("driver")
            if cast.end() or len(re.findall(r": build of", said)) != len(RATES) + 1:
                raise RuntimeError(f"exit {cast.end()}: {said[-1500:]}")
        finally:
            cast.stop()
    return trials, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of sleep in each build; the builds' limit is 120")
    parser.add_argument("--of", type=float, help="seconds that one worker took, if it was measured before")
    given = parser.parse_args()
    print(f"Six builds that sleep for {given.seconds:.0f} s each.\n")
    print("| workers | s until all are built | s of trials and report | s in all | of one worker's |")
    print("| --- | ---: | ---: | ---: | ---: |", flush=True)
    whole = given.of
    for title, workers in (("one for both", ONE), ("two for builds, one for trials", THREE)):
        if workers is ONE and given.of:
            continue
        trials, total = played(workers, given.seconds)
        whole = whole or total
        print(f"| {title} | {trials:.0f} | {total - trials:.0f} | {total:.0f} | {total / whole:.2f} |", flush=True)


if __name__ == "__main__":
    main()
