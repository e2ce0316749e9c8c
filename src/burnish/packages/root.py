"""Tries a package in a clean root of the distribution: installed, started as its service is, and taken back again.

The root is made by debootstrap once and kept; each trial is in a copy. Nothing of the host but its apt settings is
used. It needs the rights of root, for chroot.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from burnish.base import process, temporary
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.files import make_folder, remove_tree
from burnish.model.engine import Packaging, RootTrial
from burnish.packages.deb import Deb
from burnish.source.debian import binary

_MAKE_SECONDS = 1800.0
_READY_SECONDS = 90.0
_STOP_SECONDS = 60.0
_ITS_OWN = {temporary.VARIABLE: "/tmp"}  # noqa: S108 - in the root, which has no other of these folders

_OTHERS = re.compile(r"Acquire::(IndexTargets\b|\S*Auto-?Detect\b)", re.IGNORECASE)
"""Settings of fetching that the root can't or need not have."""

_NO_SERVICES = "#!/bin/sh\nexit 101\n"
"""policy-rc.d: packages start no services in the root."""


@dataclass(frozen=True)
class Root:
    """A copy of a clean root.

    Attributes:
        folder: where it is.
        packaging: how the distribution packages the server.
        trial: what is tried.
        log: log of every command.
    """

    folder: Path
    packaging: Packaging
    trial: RootTrial
    log: Path

    def run(self, *words: str, what: str) -> str:
        """Runs a command in the root; returns its output."""
        env = {"DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **_ITS_OWN}
        lines: list[str] = []
        argv = ["chroot", str(self.folder), *words]
        done = process.run(argv, env=env, log=self.log, on_line=lines.append, timeout=_MAKE_SECONDS)
        done.check(what)
        return "\n".join(lines)

    def install(self, *words: str, what: str) -> None:
        """Installs packages in the root; a version below the installed one is allowed."""
        self.run("apt-get", "install", "-y", "-q", "--no-install-recommends", "--allow-downgrades", *words, what=what)

    def query(self, statement: str) -> str:
        """What the server answers on its socket."""
        return self.run(*self.trial.client, statement, what=f"asking the server: {statement[:60]}").strip()

    def with_server(self, use: Callable[[], object]) -> None:
        """Starts the server as its service does, waits until it says that it is ready, and ends it afterwards."""
        make_folder(self.folder / self.trial.run_folder)
        user = self.packaging.user or "root"
        self.run("chown", f"{user}:{user}", f"/{self.trial.run_folder}", what="making the service's folder")
        socket_path = self.folder / "run/notify"
        socket_path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            ready.bind(str(socket_path))
            socket_path.chmod(0o777)
            ready.settimeout(1.0)
            with self.log.open("ab") as sink:
                words = ["chroot", f"--userspec={user}:{user}", str(self.folder), f"/{self.packaging.program}"]
                env = {"NOTIFY_SOCKET": "/run/notify", **_ITS_OWN}
                server = process.start(words, env=env, stdout=sink.fileno())
            try:
                self._wait(server, ready)
                use()
            finally:
                code = process.stop(server, patience=_STOP_SECONDS, first=signal.SIGTERM)
        if code != 0:
            raise InfrastructureError(f"/{self.packaging.program}: ended with exit code {code}", log=self.log)

    def _wait(self, server: subprocess.Popen[bytes], ready: socket.socket) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline and server.poll() is None:
            try:
                if b"READY=1" in ready.recv(4096):
                    return
            except TimeoutError:
                continue
        raise InfrastructureError(
            f"/{self.packaging.program}: did not tell systemd that it is ready within {_READY_SECONDS:.0f} s",
            log=self.log,
        )


def check(packaging: Packaging | None) -> RootTrial:
    """What is tried; a `UserError` where it can't be tried here."""
    if packaging is None or packaging.trial is None:
        raise UserError("--try-in-root: it is known for no package of this engine what to try; leave it out")
    if os.geteuid() != 0 or shutil.which("debootstrap", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
        raise UserError("--try-in-root needs root and debootstrap (apt-get install debootstrap); leave it out")
    return packaging.trial


def attempt(
    made: Deb, packaging: Packaging, release: str, kept: Path, scratch: Path, log: Path, say: Callable[[str], None]
) -> list[str]:
    """Tries the package; returns what was seen, a line each.

    Args:
        made: the package.
        packaging: how the distribution packages the server.
        release: code name of the distribution's release.
        kept: folder of clean roots.
        scratch: folder for the copy, removed afterwards.
        log: log of all commands.
        say: called with lines of progress.
    """
    trial = check(packaging)
    clean = _clean(release, kept, log, say)
    remove_tree(scratch)
    say("copying the clean root")
    process.run(["cp", "-a", clean, scratch], timeout=_MAKE_SECONDS).check("copying the clean root")
    root = Root(scratch, packaging, trial, log)
    try:
        return _tried(root, made, say)
    finally:
        remove_tree(scratch)


def _tried(root: Root, made: Deb, say: Callable[[str], None]) -> list[str]:
    base, trial = made.base, root.trial
    seen = []

    def holds(found: str, wanted: str, what: str) -> None:
        if found != wanted:
            raise InfrastructureError(f"in the clean root, {what}: {found!r}, expected {wanted!r}", log=root.log)
        seen.append(what)

    say(f"installing {root.packaging.server_package} {base.source[1]} in the clean root")
    _settings(root.folder, base.source)
    root.run("apt-get", "update", "-q", what="fetching the package lists in the root")
    root.install(root.packaging.server_package, *trial.packages, what=f"installing {root.packaging.server_package}")
    root.with_server(lambda: root.query(trial.prepare))
    seen.append("the distribution's server made a data folder and tables, and told systemd that it is ready")
    say(f"installing {made.file.name}")
    shutil.copyfile(made.file, root.folder / "root" / made.file.name)
    root.install(f"/root/{made.file.name}", what=f"installing {made.file.name}")
    holds(_installed(root, base.name), made.version, f"{made.version} is installed in its place")

    def ours() -> None:
        holds(root.query(trial.read), trial.first, "it starts as the service does, and reads these data on its socket")
        holds(
            root.query(trial.change), trial.changed, "it changes them, and a plugin of the distribution loads into it"
        )

    root.with_server(ours)
    say(f"going back to {base.name} {base.version}")
    root.install(f"{base.name}={base.version}", what="going back")
    holds(_installed(root, base.name), base.version, f"{base.version} is back")
    left = root.packaging.settings_file
    holds(str(bool(left) and (root.folder / left).exists()), "False", "no file of the package is left")
    root.with_server(
        lambda: holds(root.query(trial.read), trial.changed, "the distribution's server reads the changes")
    )
    return seen


def _installed(root: Root, package: str) -> str:
    return root.run("dpkg-query", "-W", "-f", "${Version}\n", package, what="asking dpkg").strip().splitlines()[-1]


def _clean(release: str, kept: Path, log: Path, say: Callable[[str], None]) -> Path:
    """The clean root of a release, made if needed."""
    clean, draft = kept / release, kept / f".{release}.partial"
    if clean.is_dir():
        return clean
    say(f"making a clean root of {release} with debootstrap (minutes, once)")
    remove_tree(draft)
    make_folder(kept)
    words = ["debootstrap", "--variant=minbase", "--include=ca-certificates", release, str(draft)]
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    process.run(words, env={"PATH": path, **_ITS_OWN}, log=log, timeout=_MAKE_SECONDS).check("making a clean root")
    draft.rename(clean)
    return clean


def _settings(root: Path, source: tuple[str, str]) -> None:
    """The host's package sources and how they are reached, the version that was built, and no services."""
    for name in ("sources.list", "sources.list.d", "trusted.gpg.d"):
        theirs = Path("/etc/apt") / name
        if theirs.is_dir():
            for file in theirs.iterdir():
                if name != "sources.list.d" or file.name == "debian.sources":
                    shutil.copyfile(file, root / "etc/apt" / name / file.name)
        elif theirs.is_file():
            shutil.copyfile(theirs, root / "etc/apt" / name)
    if (root / "etc/apt/sources.list.d/debian.sources").is_file():
        (root / "etc/apt/sources.list").write_text("")
    (root / "etc/apt/apt.conf.d/burnish").write_text(_acquired(process.capture(["apt-config", "dump"])))
    name, version = source
    (root / "etc/apt/preferences.d/burnish").write_text(binary.pinned(name, version))
    shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
    policy = root / "usr/sbin/policy-rc.d"
    policy.write_text(_NO_SERVICES)
    policy.chmod(0o755)


def _acquired(dumped: str) -> str:
    """What apt's settings say of how files are fetched, as through a proxy; what else they name is not in the root.

    There hooks (of apt-listchanges, needrestart) would fail, and so would a program that finds a proxy; the lists that
    other programs have apt fetch besides are of no use.
    """
    lines = (line for line in dumped.splitlines() if line.startswith("Acquire::"))
    return "".join(f"{line}\n" for line in lines if not _OTHERS.match(line))
