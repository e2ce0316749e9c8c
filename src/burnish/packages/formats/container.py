"""A Containerfile that installs the distribution's server with the repackaged program."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.packages.chosen import Chosen
from burnish.packages.control import file_name, one_line, version
from burnish.packages.formats.common import new_folder, title_of
from burnish.packages.statements import Made

_PIN = "/etc/apt/preferences.d/burnish"


def make(_home: Home, chosen: Chosen, made: Made, output: Path) -> tuple[list[Path], list[str]]:
    """Writes the Containerfile; returns (files, lines for the user)."""
    folder = new_folder(output, f"oci-{chosen.making.key[:8]}")
    file = folder / "Containerfile"
    file.write_text(text(chosen, made))
    return [file], [f"make the .deb into {folder} with --as deb, then: podman build -t NAME {folder} (or docker build)"]


def text(chosen: Chosen, made: Made) -> str:
    """The Containerfile; a `UserError` for an engine without a package."""
    spec = chosen.engine.spec
    packaging = spec.packaging
    if packaging is None:
        raise UserError(f"--as oci: {spec.title} has no package to install; --as tar has its program")
    release = re.search(r"Debian GNU/Linux \d+ \(([a-z]+)\)", chosen.result.host)
    base = version(chosen.making.source[1], forced=bool(made.forced))
    file = f"{packaging.package}_{file_name(re.sub(r'^[0-9]+:', '', base))}_*.deb"
    # Without the pin, apt would take the service of a newer version, which does not go with this program.
    name, built, _ = chosen.making.source
    pin = shlex.quote(one_line(f"Package: src:{name}\\nPin: version {built}\\nPin-Priority: 1001\\n"))
    install = f"apt-get install -y --no-install-recommends {packaging.server_package} /tmp/server/*.deb"
    return "\n".join(
        [
            *(f"# {line}" for line in title_of(chosen, made)),
            f"FROM docker.io/library/debian:{release[1] if release else 'stable'}-slim",
            f"COPY {file} /tmp/server/",
            f"RUN printf {pin} >{_PIN} \\",
            f"    && apt-get update && {install} \\",
            f"    && rm -rf {_PIN} /tmp/server /var/lib/apt/lists/*",
            *(["USER " + packaging.user] if packaging.user else []),
            f"ENTRYPOINT {json.dumps(['/' + packaging.program])}",
            "",
        ]
    )
