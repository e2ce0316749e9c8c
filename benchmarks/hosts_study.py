"""A study of a real server on hosts in network namespaces: builds on two, trials on a third. Needs root.

Each worker has a folder of its own as its home, which it sees at one path (in a mount namespace), because builds of a
server have that path in their flags: only so can two hosts make the same build. The path is that of the home given by
--like, of which each worker's home begins with a copy of the downloaded sources, which it can't reach from its
namespace, of the compiler cache and of what steps cost. That home itself stays as it is.

What workers keep stays in --place, so the same command goes on after it was stopped. The workers' logs, the driver's
home with the run, and what is shared are there afterwards.

Usage: hosts_study.py --place FOLDER [--like HOME] [--builders N] -- tune mariadb ...
       (python3 -m burnish must be this checkout's)
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from pathlib import Path

from hosts_cast import Cast, network

from burnish.base.paths import home

TRIALS = "trials"
COSTS = "store/costs.sqlite"
_TURN_S = 1.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--place", type=Path, required=True, help="folder of the hosts' homes")
    parser.add_argument("--like", type=Path, default=home().root, help="home that workers' homes are like")
    parser.add_argument("--builders", type=int, default=2)
    parser.add_argument("words", nargs="+", help="the command, behind --")
    given = parser.parse_args()
    place = given.place.absolute()
    for folder in (place, given.like):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    builders = [f"build{number}" for number in range(1, given.builders + 1)]
    names = [*builders, TRIALS]
    with network(names):
        cast = Cast(place, at=given.like.absolute())
        for old in place.glob("*.log"):
            old.unlink()
        try:
            cast.scheduler()
            cast.until("scheduler", "burnish worker")
            for name in names:
                begin(given.like, place / name)
                cast.worker(name, work="trials" if name == TRIALS else "builds")
            for name in names:
                cast.until(name, "connected to")
            cast.start("driver", [*given.words, "--hosts", TRIALS])
            code = followed(cast)
        finally:
            cast.stop()
    print("\nwho did what:")
    for name in names:
        for line in re.findall(r"^\d\d:\d\d:\d\d (?!connected).*$", cast.log(name), re.MULTILINE):
            print(f"  {name}: {line}")
    return code


def begin(like: Path, new: Path) -> None:
    """Gives a worker's home what it can use of another one, once."""
    if new.exists():
        return
    (new / "store").mkdir(mode=0o700, parents=True)
    for name in ("downloads", "store/ccache"):
        if (like / name).is_dir():
            shutil.copytree(like / name, new / name, symlinks=True)
    if (like / COSTS).is_file():
        shutil.copy2(like / COSTS, new / COSTS)


def followed(cast: Cast) -> int:
    """Prints what the driver says until it ends; returns its exit code."""
    shown = 0
    while True:
        ended = cast.running["driver"].poll()
        text = cast.log("driver")
        sys.stdout.write(text[shown:])
        sys.stdout.flush()
        shown = len(text)
        if ended is not None:
            return ended
        time.sleep(_TURN_S)


if __name__ == "__main__":
    sys.exit(main())
