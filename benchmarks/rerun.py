"""How long a plan of thirty variants takes to find out that nothing is to be built.

    python benchmarks/rerun.py [--runs N]

Builds thirty variants of the fake engine in a home of its own (some minutes), then times `burnish plan` on them: the
whole command as a user waits for it, and the deciding alone, in a process that has its modules loaded. To be reached:
under 2 seconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from burnish.base.paths import Home
from burnish.study import session
from burnish.study.constructors.tune import tune_study
from burnish.study.kept import runs as studies
from burnish.study.planning.study_plan import StudyPlan, plan_of
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name
from burnish.study.workshop.prepare import prepare

VARIANTS = 30
LIMIT_S = 2.0


def own_variants() -> str:
    """Thirty recipes as a user would write them: profiles shared, links shared, levels and flags apart."""
    text = []
    for number in range(VARIANTS - 1):
        recipe = [
            f'c = ["-DFAKE_SPEED={101 + number}"]',
            f'c = ["-DFAKE_SPEED={101 + number % 6}"], link = ["-Wl,-z,max-page-size={4096 << number % 5}"]',
            f'c = ["-DFAKE_SPEED={101 + number % 4}"], pgo = true, level = "-O{1 + number % 3}"',
        ][number % 3]
        text.append(f'[v{number}]\nreason = "One of thirty, to time a plan with."\nrecipe = {{ {recipe} }}\n')
    return "\n".join(text)


def plan(home: Home, options: Options) -> StudyPlan:
    """What a tune of these variants would do."""
    study = tune_study("fake", options)
    return plan_of(home, study, by_name(study, Asked()), options)


def build_all(home: Home, options: Options) -> None:
    """Builds and tests every variant, as `tune` does before its trials."""
    study = tune_study("fake", options)
    with studies.lock(home):
        setting = session.begin(home, study.engine, study.definition, options, Console(), study.workloads, None)
        workshop = prepare(setting, study, plan(home, options), ())
        workshop.make_baseline()
        workshop.make(list(study.variants))
        failed = [each.failure for each in workshop.made.values() if each.failure]
        assert not failed, failed
        session.finish(setting)


def main() -> None:
    """Builds once, then times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="burnish-rerun-") as name:
        home, recipes = Home(Path(name).resolve()), Path(name) / "own.toml"
        recipes.write_text(own_variants())
        names = ("baseline", *(f"v{number}" for number in range(VARIANTS - 1)))
        options = Options(variants=names, recipes=recipes)
        home.studies.mkdir()
        build_all(home, options)
        asked = ["fake", "--recipes", str(recipes), "--variant", ",".join(names)]
        whole, deciding = [], []
        for _ in range(runs):
            began = time.monotonic()
            said = subprocess.run(
                [sys.executable, "-m", "burnish", "plan", *asked],
                env=os.environ | {"BURNISH_HOME": name},
                check=True,
                capture_output=True,
                text=True,
            )
            whole.append(time.monotonic() - began)
            assert "nothing to build" in said.stdout, said.stdout
            began = time.monotonic()
            assert not plan(home, options).builds.building
            deciding.append(time.monotonic() - began)
    for what, seconds in (("the command", whole), ("the deciding", deciding)):
        print(f"{what}: median {statistics.median(seconds):.2f} s, slowest {max(seconds):.2f} s (limit {LIMIT_S:g} s)")


if __name__ == "__main__":
    main()
