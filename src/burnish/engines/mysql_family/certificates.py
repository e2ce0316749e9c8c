"""Certificates for TLS between a load and a server: an authority of the study's own that signs one for each."""

from __future__ import annotations

import shutil
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.workbench import Workbench

AUTHORITY, AUTHORITY_KEY = "cacert.pem", "ca-key.pem"
SERVER, SERVER_KEY = "server-cert.pem", "server-key.pem"
CLIENT, CLIENT_KEY = "client-cert.pem", "client-key.pem"
"""The names that sysbench looks for in its working folder: cacert.pem, client-cert.pem, client-key.pem."""

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_DAYS = "3650"


def obtain(folder: Path, bench: Workbench) -> Path:
    """The certificates in `folder`, made there if there are none yet.

    Raises:
        UserError: those that are there don't match.
        InfrastructureError: openssl failed; its log is attached.
    """
    if not (folder / CLIENT).is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        _make(folder, bench)
    check(folder, bench)
    return folder


def _make(folder: Path, bench: Workbench) -> None:
    def openssl(*words: str) -> None:
        bench.run("certificates", ["openssl", *words], cwd=folder, timeout=60).check("making the study's certificates")

    openssl(
        *("req", "-x509", *_KEY, "-days", _DAYS, "-subj", "/CN=Burnish study"),
        *("-keyout", AUTHORITY_KEY, "-out", AUTHORITY),
    )
    for name, key, certificate in (("localhost", SERVER_KEY, SERVER), ("burnish", CLIENT_KEY, CLIENT)):
        request = f"{name}.csr"
        openssl("req", *_KEY, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        openssl(
            *("x509", "-req", "-in", request, "-CA", AUTHORITY, "-CAkey", AUTHORITY_KEY, "-CAcreateserial"),
            *("-days", _DAYS, "-out", certificate),
        )


def check(folder: Path, bench: Workbench) -> None:
    """A `UserError` when the server's or the client's certificate is not the authority's, or not its key's."""
    verified = bench.run(
        "verify certificates", ["openssl", "verify", "-CAfile", AUTHORITY, SERVER, CLIENT], cwd=folder, timeout=60
    )
    matching = all(_public(folder, cert, bench, cert=True) == _public(folder, key, bench) for cert, key in _PAIRS)
    if not verified.ok or not matching:
        raise UserError(f"{folder}: the certificates in it don't match; remove the folder, and new ones are made")


_PAIRS = ((SERVER, SERVER_KEY), (CLIENT, CLIENT_KEY))


def _public(folder: Path, name: str, bench: Workbench, *, cert: bool = False) -> list[str]:
    """The public key in a certificate or of a private key, line by line."""
    lines: list[str] = []
    words = ["x509", "-in", name, "-noout", "-pubkey"] if cert else ["pkey", "-in", name, "-pubout"]
    bench.run("public key", ["openssl", *words], cwd=folder, timeout=60, on_line=lines.append)
    return lines


def server_options(folder: Path) -> list[str]:
    """What a server needs to speak TLS with these certificates, and with nobody without one of them."""
    return [
        f"--ssl-ca={folder / AUTHORITY}",
        f"--ssl-cert={folder / SERVER}",
        f"--ssl-key={folder / SERVER_KEY}",
        "--require-secure-transport=OFF",  # the controller's own questions come over the Unix socket
    ]


def hand_out(folder: Path, to: Path) -> None:
    """Puts what the load needs where it looks: its working folder."""
    for name in (AUTHORITY, CLIENT, CLIENT_KEY):
        target = to / name
        target.unlink(missing_ok=True)
        target.symlink_to(folder / name)
