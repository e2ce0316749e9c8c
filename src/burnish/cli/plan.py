"""The verb that says what `tune` would do: the same words, nothing built."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from burnish.cli.common import app
from burnish.cli.measuring import tune

_HELP = "Show what `tune` would do with the same options: its steps, what is cached, minutes, disk, memory."


@functools.wraps(tune)
def _plan(**words: Any) -> None:
    tune(**words, dry_run=True)


# The options are tune's own, whatever they are, but for the one that makes it this verb.
_options = inspect.signature(tune, eval_str=True)
_plan.__signature__ = _options.replace(  # type: ignore[attr-defined]
    parameters=[each for name, each in _options.parameters.items() if name != "dry_run"]
)
app.command("plan", help=_HELP, epilog="Example: burnish plan mariadb --variants gcc-pgo,clang-pgo-thinlto")(_plan)
