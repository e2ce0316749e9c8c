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
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Took:
    """Seconds since the command was given.

    Attributes:
        asked: until the first build began.
        built: until the trials began.
        total: until the report was printed, and the command ended.
    """

    asked: float
    built: float
    total: float


def played(workers: dict[str, str], seconds: float) -> Took:
    """How long the ladder takes with these workers."""
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
            began, first = time.monotonic(), dict.fromkeys((": build of", ": trials of"), 0.0)
            cast.start("driver", words)
            while cast.running["driver"].poll() is None:
                said = cast.log("driver")
                first = {line: at or (time.monotonic() - began) * (line in said) for line, at in first.items()}
                time.sleep(_TURN_S)
            total = time.monotonic() - began
            said = cast.log("driver")
            if cast.end() or len(re.findall(r": build of", said)) != len(RATES) + 1:
                raise RuntimeError(f"exit {cast.end()}: {said[-1500:]}")
        finally:
            cast.stop()
    asked, built = first.values()
    return Took(asked, built, total)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of sleep in each build; the builds' limit is 120")
    parser.add_argument("--of", type=float, help="seconds that one worker took, if it was measured before")
    given = parser.parse_args()
    print(f"Six builds that sleep for {given.seconds:.0f} s each.\n")
    print("| workers | s until all are built | s of trials and report | s in all | of one worker's |")
    print("| --- | ---: | ---: | ---: | ---: |", flush=True)
    whole, rests = given.of, []
    for title, workers, at_once in (("one for both", ONE, 1), ("two for builds, one for trials", THREE, 2)):
        if workers is ONE and given.of:
            continue
        took = played(workers, given.seconds)
        whole = whole or took.total
        trials, share = took.total - took.built, took.total / whole
        print(f"| {title} | {took.built:.0f} | {trials:.0f} | {took.total:.0f} | {share:.2f} |", flush=True)
        own = (took.built - took.asked) * at_once / (len(RATES) + 1) - given.seconds
        rests.append(f"{title}: {took.asked:.1f} s until the first build, {own:.1f} s of each build are not its sleep.")
    print("", *rests, sep="\n")


if __name__ == "__main__":
    main()
