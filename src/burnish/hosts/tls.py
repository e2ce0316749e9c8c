"""Certificates for scheduler, workers and those who ask: an authority of the user's own signs one for all of them.

Whoever has it may do everything (SECURITY.md), so there is one, not one for each role.
"""

from __future__ import annotations

import shutil
import ssl
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from burnish.base import process, system, temporary
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.hosts.place import folder, join_folder

AUTHORITY, CERTIFICATE, KEY = "ca.pem", "cert.pem", "key.pem"
"""Files of the folder that is copied to each machine."""

AUTHORITY_KEY = "ca-key.pem"
"""Stays in the home where it was made."""

_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_DAY_S = 86_400
_BACK_DAYS, _DAYS = 1, 3650
"""Certificates are valid from a day before they were made, as clocks of machines differ: one that is behind would take
them for not valid yet."""

_RULES = """
[ca]
default_ca = hosts
[hosts]
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = names
[names]
commonName = supplied
[authority]
basicConstraints = critical,CA:true
subjectKeyIdentifier = hash
[host]
basicConstraints = CA:false
"""
"""How `openssl ca` signs, which unlike `openssl x509` can be told in all versions from when on."""


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
    authority_key, draft = folder(home) / AUTHORITY_KEY, folder(home) / CERTIFICATE
    with tempfile.TemporaryDirectory(dir=temporary.folder()) as name:
        scratch = Path(name)
        (scratch / "rules").write_text(_RULES)
        (scratch / "index").touch()
        now = time.time()
        dates = ("-startdate", _date(now - _BACK_DAYS * _DAY_S), "-enddate", _date(now + _DAYS * _DAY_S))
        ask_for = ("req", "-new", *_NEW_KEY, "-out", "request")
        sign = ("ca", "-batch", "-notext", "-config", "rules", *dates, "-keyfile", authority_key, "-in", "request")
        for words in (
            (*ask_for, "-subj", "/CN=Burnish hosts", "-keyout", authority_key),
            (*sign, "-selfsign", "-extensions", "authority", "-out", place / AUTHORITY),
            (*ask_for, "-subj", "/CN=Burnish host", "-keyout", place / KEY),
            (*sign, "-cert", place / AUTHORITY, "-extensions", "host", "-out", draft),
        ):
            process.run(["openssl", *words], cwd=scratch, timeout=60).check("making the hosts' certificates")
    for path in (authority_key, place / AUTHORITY, place / KEY, draft):
        path.chmod(0o600)
    draft.rename(place / CERTIFICATE)  # last: a folder with it is complete
    return place


def check(home: Home) -> Path:
    """The folder with the certificates.

    Raises:
        UserError: one is missing, its key can be read by others, or it is not valid by this machine's clock.
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
    now, (first, last) = time.time(), _validity(place / AUTHORITY)
    if not first <= now <= last:
        what = (
            "set the clock of this machine"
            if now < first
            else f"set the clock of this machine, or remove {place} and call `burnish hosts up` anew if they are old"
        )
        raise UserError(
            f"{place}: its certificates are valid from {_words(first)} to {_words(last)}, and by this machine's clock "
            f"it is {_words(now)}; {what}"
        )
    return place


def _validity(authority: Path) -> tuple[float, float]:
    """From when to when the certificates are valid, seconds since the epoch; all were made at one time."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(authority)
        (about,) = context.get_ca_certs()
    except (ssl.SSLError, ValueError):
        raise UserError(
            f"{authority}: no certificate that `burnish hosts up` made; copy the folder {authority.parent.name} again"
        ) from None
    return ssl.cert_time_to_seconds(str(about["notBefore"])), ssl.cert_time_to_seconds(str(about["notAfter"]))


def _date(at: float) -> str:
    """A time as openssl takes it."""
    return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(at))


def _words(at: float) -> str:
    """A time for people."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at))
