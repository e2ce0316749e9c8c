"""The hosts that take part; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.report.compose import row
from burnish.report.document import Column, Document, Paragraph, Section, Span, Table

GIB = 2**30


def hosts(known: Sequence[Mapping[str, Any]]) -> Document:
    """The hosts as a table: kind, cores, compilers, what runs there, calibration, last sitting."""
    if not known:
        text = "no host takes part; `burnish worker ADDRESS` on a machine adds it"
        return Document("hosts", (Section("hosts", (Paragraph(Span(text)),)),))
    names = ("host", "kind", "cores", "GiB", "for", "compilers", "now", "calibrated for", "last sitting")
    columns = tuple(Column(name, right=name in ("cores", "GiB")) for name in names)
    rows = tuple(
        row(
            host["name"],
            host["kind"],
            str(host["cores"]),
            f"{host['memory'] / GIB:.0f}" if host["memory"] else "",
            _purpose(host),
            ", ".join(host["compilers"]) or "none",
            host["running"] or "idle",
            host["calibration"] or "nothing",
            host["sitting"] or "never",
        )
        for host in known
    )
    return Document("hosts", (Section("hosts", (Table("hosts", columns, rows, gap=2),)),))


def _purpose(host: Mapping[str, Any]) -> str:
    words = [word for word, has in (("builds", host["builds"]), ("trials", host["benches"])) if has]
    return ", ".join(words)
