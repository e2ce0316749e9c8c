"""Debian packages made by hand, for tests of what is made from them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

CONTROL = """\
Package: {name}
Source: {source}
Version: {version}
Architecture: {architecture}
Maintainer: Nobody <nobody@example.org>
Installed-Size: 1
Depends: libc6 (>= 2.3)
Section: database
Priority: optional
Description: a server for tests
 It was made by a test.
"""


def deb(
    place: Path, program: Path, *, name: str = "fake-server-core", version: str = "1.0-1", source: str = "fake",
    architecture: str = "amd64",
) -> Path:  # fmt: skip
    """A package with the program at usr/sbin/server, and what stands beside it in its folder."""
    root = place / f"root-{name}-{architecture}"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "usr/sbin").mkdir(parents=True)
    (root / "usr/share/doc" / name).mkdir(parents=True)
    (root / "usr/share/doc" / name / "copyright").write_text("nobody's\n")
    for file in program.parent.iterdir():
        shutil.copy2(file, root / "usr/sbin" / (program.name if file == program else file.name))
    (root / "DEBIAN/control").write_text(
        CONTROL.format(name=name, version=version, source=source, architecture=architecture)
    )
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.parent.name == "sbin" else 0o644)
    file = place / f"{name}_{version}_{architecture}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", root, file], check=True, capture_output=True)
    return file
