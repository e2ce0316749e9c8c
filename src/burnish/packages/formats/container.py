"""A Containerfile that installs the distribution's server with the repackaged program; built and run by podman."""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from burnish.base.workbench import Workbench
from burnish.model.engine import Packaging
from burnish.packages.chosen import Chosen
from burnish.packages.control import file_name, one_line
from burnish.packages.formats.common import release_of, title_of
from burnish.packages.statements import Made
from burnish.source.debian import binary

FILE = "Containerfile"

_PIN = "/etc/apt/preferences.d/burnish"
_BUILD_SECONDS = 1800.0
_ANSWER_SECONDS = 60.0
_PAUSE_SECONDS = 1.0
_ASKED = "SELECT VERSION()"


def text(chosen: Chosen, made: Made, packaging: Packaging, package: str, source: tuple[str, str]) -> str:
    """The Containerfile.

    Args:
        chosen: the measured program.
        made: how it became what is packaged.
        packaging: how the distribution packages the server.
        package: name of the .deb beside the file.
        source: name and version of the source package that the .deb is of, and so the service.
    """
    # Without the pin, apt would take the service of a newer version, which does not go with this program.
    pin = shlex.quote(one_line(binary.pinned(*source).replace("\n", "\\n")))
    release = release_of(chosen)
    install = f"apt-get install -y --no-install-recommends {packaging.server_package} /tmp/server/*.deb"
    return "\n".join(
        [
            *(f"# {line}" for line in title_of(chosen, made)),
            # Of a release that is not known, nobody can name the image.
            f"ARG BASE=docker.io/library/debian:{release}-slim" if release else "ARG BASE",
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


def tried(folder: Path, chosen: Chosen, packaging: Packaging, bench: Workbench, *, forced: bool = False) -> list[str]:
    """Builds the image and asks the server in it, where podman can; returns what was seen, a line each.

    What podman cannot do here, for want of a registry or of rights, keeps nobody from building the image elsewhere.

    Args:
        folder: folder of the Containerfile and the package.
        chosen: the measured program.
        packaging: how the distribution packages the server.
        bench: recorded processes.
        forced: whether objections or losses were overruled, which the image's tag says.
    """
    image = f"burnish-{file_name(chosen.making.engine).lower()}:{chosen.making.key[:8]}{'-forced' * forced}"
    build = ["podman", "build", "--tag", image, str(folder)]
    elsewhere = f"{shlex.join(build)} (or docker build), another base with --build-arg BASE=IMAGE"
    if not release_of(chosen):
        words = shlex.join([*build[:2], "--build-arg", "BASE=IMAGE", *build[2:]])
        return [f"not built, since no image of the measured release is known; with one as IMAGE: {words}"]
    if shutil.which("podman") is None:
        return [f"not built, since podman is not here: {elsewhere}"]
    bench.say(f"building the image {image} with podman")
    built, last = _podman(bench, "podman-build", build, _BUILD_SECONDS)
    if not built:
        return [f"podman can't build it here: {last}; where it can: {elsewhere}"]
    return [f"image {image}: built", _answer(image, packaging, bench)]


def _answer(image: str, packaging: Packaging, bench: Workbench) -> str:
    """Runs the image, asks the server for its version and removes the container; what came of it."""
    start = f"podman run --detach {image}"
    if packaging.trial is None:
        return f"start it: {start}"
    name = f"{image.replace(':', '-')}-trial"
    words = ["podman", "run", "--detach", "--replace", "--name", name, image]
    try:
        running, last = _podman(bench, "podman-run", words, _ANSWER_SECONDS)
        if not running:
            return f"podman can't run it here: {last}; where it can: {start}"
        words = ["podman", "exec", "--user", "root", name, *packaging.trial.client, _ASKED]
        deadline = time.monotonic() + _ANSWER_SECONDS
        answered, last = _podman(bench, "podman-exec", words, _ANSWER_SECONDS)
        while not answered and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
            answered, last = _podman(bench, "podman-exec", words, _ANSWER_SECONDS)
        if not answered:
            return f"its server does not answer within {_ANSWER_SECONDS:.0f} s: {last}; try it: {start}"
        return f"its server answers on its socket: {last}; start it: {start}"
    finally:
        _podman(bench, "podman-rm", ["podman", "rm", "--force", "--ignore", name], _ANSWER_SECONDS)


def _podman(bench: Workbench, what: str, words: Sequence[str], seconds: float) -> tuple[bool, str]:
    """Whether podman did it, and the last line that it wrote."""
    lines: list[str] = []
    done = bench.run(what, words, timeout=seconds, on_line=lines.append)
    said = [line for line in lines if line.strip()]
    return done.ok, one_line(said[-1], 200) if said else f"exit code {done.exit_code}"
