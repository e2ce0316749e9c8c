"""Which machine this is, without revealing it.

An image's machine id and host name are the same on every virtual machine that is made from it, on whatever processor.
So a machine is known by what its firmware says of it, else by a random id that Burnish keeps in its home; both together
with the processor, since a home or an image may be moved to another one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from pathlib import Path

from burnish.base.files import link_new

FIRMWARE = ("product_uuid", "board_serial")
"""Files of ``/sys/class/dmi/id`` that identify a machine, best first; only root can read them."""

KEPT = "machine"
"""Name of the file in Burnish's home that has the random id."""

_NO_ID = re.compile(
    r"to be filled.*|default.*|not (specified|applicable|available|provided|settable)|none|n/?a|invalid|empty|unknown"
    r"|o\.?e\.?m\.?|system serial number|base ?board serial number|chassis serial number|serial|x+|0?123456789[0a-f]*"
    # UUIDs that vendors have shipped on many machines (systemd and Windows refuse the same ones).
    r"|03000200-0400-0500-0006-000700080009|12345678-1234-5678-90ab-cddeefaabbcc|00020003-0004-0005-0006-000700080009",
    re.IGNORECASE,
)
_DISTINCT = 4
"""Least number of distinct letters and digits of an id: zeros, FF and the like identify nothing."""


def machine_id(root: Path, home: Path | None, processor: str) -> str:
    """Digest that identifies this machine; "unknown" if neither its firmware nor the home has an id.

    Args:
        root: the folder that contains ``sys``.
        home: Burnish's home, where a random id is made if the firmware has none; None: do not look there.
        processor: the processor's name and signature.
    """
    own = next((f"{name} {text}" for name in FIRMWARE if (text := _firmware(root, name))), None)
    if own is None and home is not None:
        kept = _kept(home)
        own = f"kept {kept}" if kept else None
    return hashlib.sha256(f"burnish {own}\n{processor}".encode()).hexdigest()[:16] if own else "unknown"


def identifies(text: str) -> bool:
    """Whether an id of the firmware can be this machine's own, and is not a vendor's placeholder."""
    return not _NO_ID.fullmatch(text) and len(set(re.sub(r"[\W_]", "", text.lower()))) >= _DISTINCT


def _firmware(root: Path, name: str) -> str:
    try:
        text = (root / "sys/class/dmi/id" / name).read_text(errors="replace").strip().lower()
    except OSError:
        return ""
    return text if identifies(text) else ""


def _kept(home: Path) -> str:
    """The id in the home, made if there is none; '' if that is not possible."""
    path = home / KEPT
    try:
        if not path.exists():
            draft = home / f".{KEPT}.{os.getpid()}"
            draft.unlink(missing_ok=True)
            draft.touch(mode=0o600, exist_ok=False)
            draft.write_text(secrets.token_hex(16) + "\n")
            with contextlib.suppress(FileExistsError):  # another run was first: its id counts
                link_new(draft, path)
            draft.unlink()
        text = path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if re.fullmatch(r"[0-9a-f]{32}", text) else ""
