"""Scripts of benchmarks/, which are no modules of a package, for tests of what they compute."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[2] / "benchmarks"


def benchmark_script(name: str) -> ModuleType:
    """The script `benchmarks/NAME.py` as a module, newly loaded, with those of its folder that it imports.

    No test's import finds any of them.
    """
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    scripts = {path.stem for path in FOLDER.glob("*.py")}
    before = {script: sys.modules.pop(script) for script in scripts if script in sys.modules}
    sys.modules[name] = module  # its dataclasses look there
    sys.path.insert(0, str(FOLDER))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
        for script in scripts:
            sys.modules.pop(script, None)
        sys.modules.update(before)
    return module
