"""Whether a build that another host made runs on this one."""

from __future__ import annotations

import re

from burnish.base import process
from burnish.base.errors import InfrastructureError
from burnish.builds import loaded
from burnish.catalogue import load
from burnish.record.store import Entry

_LACKING = re.compile(r"^\s*(\S+) => not found|(version `[^']+' not found)", re.MULTILINE)


def unfit(entry: Entry) -> str | None:
    """Why a build can't be used on this host, or None; other entries fit.

    Its key and the name that it has on the far side say that it is of this architecture and distribution, and of this
    processor if it was built for one (`burnish.artefacts.shared`); a target that this host lacks is refused before any
    build of it is looked for. What is left are the libraries that its program loads.
    """
    if entry.kind != "builds":
        return None
    program = entry.folder / load.engine(str(entry.about.get("engine"))).server
    if not program.is_file():
        return f"{program.name}: there is no such program in it"
    if not loaded.needed(program):
        return None
    try:
        done = process.run([program], env=loaded.LIST_ONLY, timeout=20)
    except InfrastructureError as error:
        return str(error)
    if names := lacking(done.output):
        return f"this host lacks {', '.join(names)}"
    return None if done.ok else f"the loader refuses it: {(done.output.strip().splitlines() or ['?'])[-1]}"


def lacking(printed: str) -> list[str]:
    """Libraries, and versions of their symbols, that the loader did not find, as it printed them; pure."""
    return list(dict.fromkeys(name or words for name, words in _LACKING.findall(printed)))
