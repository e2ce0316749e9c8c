"""A Containerfile that installs the distribution's server with the repackaged program; built and run by podman."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import time
from pathlib import Path

from burnish.base.process import Completed
from burnish.base.workbench import Workbench
from burnish.model.engine import Packaging
from burnish.packages.chosen import Chosen
from burnish.packages.control import file_name, one_line
from burnish.packages.formats.common import title_of
from burnish.packages.statements import Made

FILE = "Containerfile"

_PIN = "/etc/apt/preferences.d/burnish"
_BUILD_SECONDS = 1800.0
_ANSWER_SECONDS = 60.0
_PAUSE_SECONDS = 1.0
_ASKED = "SELECT VERSION()"


def text(chosen: Chosen, made: Made, packaging: Packaging, package: str) -> str:
    """The Containerfile.

    Args:
        chosen: the measured program.
        made: how it became what is packaged.
        packaging: how the distribution packages the server.
        package: name of the .deb beside the file.
    """
    release = re.search(r"Debian GNU/Linux \d+ \(([a-z]+)\)", chosen.result.host)
    # Without the pin, apt would take the service of a newer version, which does not go with this program.
    name, built, _ = chosen.making.source
    pin = shlex.quote(one_line(f"Package: src:{name}\\nPin: version {built}\\nPin-Priority: 1001\\n"))
    install = f"apt-get install -y --no-install-recommends {packaging.server_package} /tmp/server/*.deb"
    return "\n".join(
        [
            *(f"# {line}" for line in title_of(chosen, made)),
            f"ARG BASE=docker.io/library/debian:{release[1] if release else 'stable'}-slim",
            "FROM ${BASE}",
            f"COPY {json.dumps([package, '/tmp/server/'])}",  # noqa: S108 - in the image
            f"RUN printf {pin} >{_PIN} \\",
            f"    && apt-get update && {install} \\",
            *_run_folder(packaging),
            f"    && rm -rf {_PIN} /tmp/server /var/lib/apt/lists/*",
            *(["USER " + packaging.user] if packaging.user else []),
            f"ENTRYPOINT {json.dumps(['/' + packaging.program])}",
            "",
        ]
    )


def _run_folder(packaging: Packaging) -> list[str]:
    """The folder of the socket, which systemd makes elsewhere; a container has no systemd."""
    if packaging.trial is None or not packaging.user:
        return []
    user, folder = packaging.user, packaging.trial.run_folder
    return [f"    && install -d -o {user} -g {user} /{folder} \\"]


def tried(folder: Path, chosen: Chosen, packaging: Packaging, bench: Workbench) -> list[str]:
    """Builds the image and asks the server in it, where podman can; returns what was seen, a line each.

    What podman cannot do here, for want of a registry or of rights, keeps nobody from building the image elsewhere.

    Args:
        folder: folder of the Containerfile and the package.
        chosen: the measured program.
        packaging: how the distribution packages the server.
        bench: recorded processes.
    """
    image = f"burnish-{file_name(chosen.making.engine).lower()}:{chosen.making.key[:8]}"
    build = ["podman", "build", "--tag", image, str(folder)]
    elsewhere = f"{shlex.join(build)} (or docker build), another base with --build-arg BASE=IMAGE"
    if shutil.which("podman") is None:
        return [f"not built, since podman is not here: {elsewhere}"]
    bench.say(f"building the image {image} with podman")
    done = bench.run("podman-build", build, timeout=_BUILD_SECONDS)
    if not done.ok:
        return [f"podman can't build it here: {_last(done)}; where it can: {elsewhere}"]
    return [f"image {image}: built", _answer(image, packaging, bench)]


def _answer(image: str, packaging: Packaging, bench: Workbench) -> str:
    """Runs the image, asks the server for its version and removes the container; what came of it."""
    start = f"podman run --detach {image}"
    if packaging.trial is None:
        return f"start it: {start}"
    name = f"{image.replace(':', '-')}-trial"
    began = bench.run("podman-run", ["podman", "run", "--detach", "--replace", "--name", name, image], timeout=120)
    try:
        if not began.ok:
            return f"podman can't run it here: {_last(began)}; where it can: {start}"
        words = ["podman", "exec", "--user", "root", name, *packaging.trial.client, _ASKED]
        deadline = time.monotonic() + _ANSWER_SECONDS
        asked = bench.run("podman-exec", words, timeout=_ANSWER_SECONDS)
        while not asked.ok and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
            asked = bench.run("podman-exec", words, timeout=_ANSWER_SECONDS)
        if not asked.ok:
            return f"its server does not answer within {_ANSWER_SECONDS:.0f} s: {_last(asked)}; try it: {start}"
        return f"its server answers on its socket: {_last(asked)}; start it: {start}"
    finally:
        bench.run("podman-rm", ["podman", "rm", "--force", "--ignore", name], timeout=120)


def _last(done: Completed) -> str:
    """The last line of a program's output, for a sentence."""
    lines = [line for line in done.output.splitlines() if line.strip()]
    return one_line(lines[-1], 200) if lines else f"exit code {done.exit_code}"
