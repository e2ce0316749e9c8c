"""What PostgreSQL can be loaded with: pgbench's own scripts, and a user's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.workbench import Workbench
from burnish.catalogue import load
from burnish.engines.contract import Loads, OwnData, Workload
from burnish.engines.shared import own_script
from burnish.workload import loads
from burnish.workload.loads import Asked, Parameter

PARAMETERS = {
    "scale": Parameter("number"),
    "fillfactor": Parameter("number"),
    "checksums": Parameter("switch"),
    "protocol": Parameter("text", ("simple", "extended", "prepared")),
    "jobs": Parameter("number"),
    "rate": Parameter("number"),
}
_VARIABLE = re.compile(r"(?<![:\w]):([A-Za-z_]\w*)")
_SET = re.compile(r"^\s*\\(?:set|setshell|gset|aset)\s+(\w+)", re.MULTILINE)
_PGBENCHS = {"scale", "client_id", "random_seed", "default_seed"}


class PostgreSQLLoads(Loads):
    """pgbench's built-in scripts, and files that pgbench reads (``-f``)."""

    beside = "a pgbench script of your own over pgbench's tables (./mine.sql; its variables are parameters)"

    def resolve(self, wanted: Asked, data: OwnData | None = None) -> list[Workload]:
        """See `Loads.resolve`: also a user's script."""
        if data is not None:
            raise UserError(f"--data {data.place}: pgbench's scripts work on pgbench's tables; leave it out")
        path = Path(wanted.name)
        if path.suffix != ".sql":
            return super().resolve(wanted)
        return [loads.applied(own_script.load_of(path, like=load.workload(self.spec, "tpcb_like")), wanted)]

    def parameters(self, workload: Workload, bench: Workbench) -> Mapping[str, Parameter]:  # noqa: ARG002
        """See `Loads.parameters`: of a user's script also the variables that it does not set itself."""
        if not workload.file:
            return PARAMETERS
        text = Path(workload.file).read_text(errors="replace")
        own = set(_VARIABLE.findall(text)) - set(_SET.findall(text)) - _PGBENCHS
        return {**PARAMETERS, **{name: Parameter("text") for name in sorted(own)}}
