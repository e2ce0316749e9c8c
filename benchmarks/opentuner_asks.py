"""OpenTuner's ask and tell by lines of JSON, for `benchmarks/tuners.py`; runs in a Python environment of its own.

    python -m venv /tmp/opentuner && /tmp/opentuner/bin/pip install opentuner==0.8.8 'sqlalchemy<2' 'numpy<2'

The first line that it reads is the space: ``{"choices": {NAME: [LEVEL, ...]}, "known": [{NAME: LEVEL}], "seed": N}``.
Then it writes a line ``{NAME: LEVEL, ...}`` for each configuration that OpenTuner wants measured, and reads a line with
the time that it took, until its input ends. OpenTuner's options are its defaults; known-good ones are its seeds.
"""

from __future__ import annotations

import argparse
import collections
import collections.abc
import contextlib
import json
import os
import random
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any


def main() -> None:
    """Asks and is told until nobody tells anything more."""
    for name in ("Iterable", "Iterator", "Mapping", "MutableMapping", "Sequence", "Callable"):
        # A library of OpenTuner's looks for them where Python had them before 3.10.
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    said = sys.stdout
    asked = json.loads(sys.stdin.readline())
    random.seed(asked["seed"])
    with contextlib.suppress(ImportError):
        import_module("numpy").random.seed(asked["seed"])
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(sys.stderr):
        os.chdir(place)  # OpenTuner leaves a log where it is
        api, result = _manager(asked, Path(place))
        while True:
            desired = api.get_next_desired_result()
            if desired is None:
                continue
            said.write(json.dumps(dict(desired.configuration.data)) + "\n")
            said.flush()
            line = sys.stdin.readline()
            if not line:
                break
            api.report_result(desired, result(time=float(line)))
        api.finish()


def _manager(asked: Any, place: Path) -> tuple[Any, Any]:
    """OpenTuner's manager for the space that is asked for, and its class of results."""
    opentuner = import_module("opentuner")
    manipulation = import_module("opentuner.search.manipulator")
    interfaces = import_module("opentuner.measurement.interface")
    api = import_module("opentuner.api")
    manipulator = manipulation.ConfigurationManipulator()
    for name, levels in asked["choices"].items():
        manipulator.add_parameter(manipulation.EnumParameter(name, levels))

    base: Any = interfaces.DefaultMeasurementInterface

    class Interface(base):  # type: ignore[misc]
        def seed_configurations(self) -> list[Any]:
            return list(asked["known"])

    parser = argparse.ArgumentParser(parents=opentuner.argparsers())
    args = parser.parse_args(["--database", str(place / "opentuner.db"), "--no-dups", "--quiet"])
    interface = Interface(
        args=args, manipulator=manipulator, project_name="burnish", program_name="search", program_version="1"
    )
    return api.TuningRunManager(interface, args), opentuner.Result


if __name__ == "__main__":
    main()
