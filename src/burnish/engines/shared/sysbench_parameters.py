"""What parameters a sysbench script takes, as the script itself tells; whether a script can be run at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from burnish.base.errors import UserError
from burnish.base.workbench import Workbench
from burnish.engines.shared import sysbench
from burnish.model.workload import Workload
from burnish.workload.loads import Parameter

GENERAL: Mapping[str, Parameter] = {
    "rand_type": Parameter("text", ("uniform", "gaussian", "special", "pareto")),
    "rand_spec_iter": Parameter("number"),
    "rand_spec_pct": Parameter("number"),
    "rand_spec_res": Parameter("number"),
    "rand_pareto_h": Parameter("number"),
    "db_ps_mode": Parameter("text", ("auto", "disable")),
    "rate": Parameter("number"),
}
"""Parameters of sysbench itself that every script has; connection, duration, seed and reports are Burnish's."""

_OPTION = re.compile(r"^\s+--([\w-]+)(\[=on\|off\]|=\S+)?\s")
_FATAL = re.compile(r"^(?:FATAL|ERROR|PANIC): (.*)")


def of_help(lines: Sequence[str]) -> dict[str, Parameter]:
    """The parameters in what ``sysbench SCRIPT help`` printed, by name with underscores."""
    parameters = {}
    for line in lines:
        match = _OPTION.match(line)
        if match:
            form = match[2] or ""
            kind = "switch" if "on|off" in form else "number" if form == "=N" else "text"
            parameters[match[1].replace("-", "_")] = Parameter(kind)
    return parameters


def known(workload: Workload, bench: Workbench) -> dict[str, Parameter]:
    """All parameters that the workload's script takes; a `UserError` when the script does not even load."""
    lines: list[str] = []
    program = sysbench.script(workload.program)
    words, env = ["sysbench", program, "help"], sysbench.search_path(program)
    done = bench.run(f"parameters of {workload.entry}", words, env=env, timeout=60, on_line=lines.append)
    fatal = next((match[1] for line in lines if (match := _FATAL.match(line))), None)
    if fatal is not None:
        raise UserError(f"{workload.entry}: the script does not load: {fatal}")
    if not done.ok and not any("does not implement the 'help' command" in line for line in lines):
        raise UserError(f"{workload.entry}: the script does not load: {' '.join(lines[-1:]) or 'no reason given'}")
    return {**GENERAL, **of_help(lines)}
