"""Certificates for scheduler, workers and those who ask: an authority of the user's own signs one for all of them.

Whoever has it may do everything (SECURITY.md), so there is one, not one for each role.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from burnish.base import process, system
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.hosts.place import folder, join_folder

AUTHORITY, CERTIFICATE, KEY = "ca.pem", "cert.pem", "key.pem"
"""Files of the folder that is copied to each machine."""

AUTHORITY_KEY = "ca-key.pem"
"""Stays in the home where it was made."""

_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_DAYS = "3650"


def make(home: Home, *, yes: bool = False, ask: Callable[[str], bool] | None = None) -> Path:
    """Makes the certificates if there are none yet; returns the folder to copy.

    Args:
        home: where they are made.
        yes: install openssl without asking where it is missing.
        ask: asks the user; None if nobody can answer.

    Raises:
        UserError: openssl is not installed, and is not to be; those of `check`.
    """
    place = join_folder(home)
    if (place / CERTIFICATE).is_file():
        return check(home)
    if shutil.which("openssl") is None:
        packages = system.group("tls").packages
        system.ensure_packages(packages, why="the hosts' certificates", yes=yes, ask=ask)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    authority_key = folder(home) / AUTHORITY_KEY
    _openssl(
        *("req", "-x509", *_NEW_KEY, "-days", _DAYS, "-subj", "/CN=Burnish hosts"),
        *("-keyout", authority_key, "-out", place / AUTHORITY),
    )
    request = folder(home) / "request.pem"
    _openssl("req", *_NEW_KEY, "-subj", "/CN=Burnish host", "-keyout", place / KEY, "-out", request)
    draft = folder(home) / CERTIFICATE
    _openssl(
        *("x509", "-req", "-in", request, "-CA", place / AUTHORITY, "-CAkey", authority_key, "-CAcreateserial"),
        *("-days", _DAYS, "-out", draft),
    )
    request.unlink()
    for path in (authority_key, place / AUTHORITY, place / KEY, draft):
        path.chmod(0o600)
    draft.rename(place / CERTIFICATE)  # last: a folder with it is complete
    return place


def check(home: Home) -> Path:
    """The folder with the certificates.

    Raises:
        UserError: one is missing, or its key can be read by others.
    """
    place = join_folder(home)
    for name in (AUTHORITY, CERTIFICATE, KEY):
        if not (place / name).is_file():
            raise UserError(
                f"{place / name}: there is no such file; copy the folder {place.name} of the machine on which "
                f"`burnish hosts up` runs to {place}"
            )
    mode = (place / KEY).stat().st_mode & 0o777
    if mode & 0o077:
        raise UserError(f"{place / KEY}: others can read it (mode {mode:o}); chmod 600 {place / KEY}")
    return place


def _openssl(*words: str | Path) -> None:
    process.run(["openssl", *words], timeout=60).check("making the hosts' certificates")
