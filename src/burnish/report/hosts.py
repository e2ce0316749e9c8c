"""Hosts in words; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def host_line(host: Mapping[str, Any]) -> str:
    """The host in one line: processor, cores, memory, kernel, hypervisor."""
    if not host:
        return "unknown host"
    memory = f"{host['memory_bytes'] / 2**30:.0f} GiB" if host.get("memory_bytes") else "unknown memory"
    signature = f" (family/model/stepping {host['cpu_signature']})" if "cpu_signature" in host else ""
    parts = [
        f"{host['cpu_model']}{signature}",
        f"{len(host['cores_allowed'])} cores",
        memory,
        f"Linux {host['kernel']}",
        str(host["distribution"]),
        f"hypervisor {host['hypervisor']}",
        f"THP {host['thp']}",
    ]
    return ", ".join(parts)


def hosts_line(merged: Mapping[str, Any]) -> str:
    """The hosts of a merged record, each with its letter in the report."""
    return "; ".join(f"{host['label']}: {host_line(host['facts'])}" for host in merged["hosts"])
