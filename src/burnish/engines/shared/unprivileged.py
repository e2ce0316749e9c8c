"""Programs that refuse to run as root, run as nobody where Burnish is root, without a change of user."""

from __future__ import annotations

import os

from burnish.base import process
from burnish.base.errors import UserError

_NOBODY = 65534


def words() -> tuple[str, ...]:
    """Words before a program that refuses to run as root: nobody's user id and no privilege; none for other users.

    In a user namespace of its own the process is nobody, without any capability, while files keep one owner: what
    Burnish makes (0700) is the program's own, and what it writes, profiles included, is Burnish's, wherever its home
    is. A change of user could not reach a home below /root. Afterwards, since the kernel forgets it on a change of
    user: the program ends with Burnish.
    """
    if os.geteuid() != 0:
        return ()
    namespace = ("unshare", "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}")
    return (*namespace, "setpriv", "--pdeathsig", "KILL")


def check(title: str) -> None:
    """A `UserError` where Burnish runs as root and programs of the server `title` cannot be run as anybody else."""
    before = words()
    if before and not process.run([*before, "true"], timeout=30).ok:
        raise UserError(
            f"{title} refuses to run as root, and this host allows no user namespace (`unshare --user`), in which it "
            "would run as nobody; run Burnish as an ordinary user"
        )
