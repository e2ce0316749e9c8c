"""What a cell is called in progress and logs: nothing twice, and no two cells alike."""

from __future__ import annotations

from burnish.model.cell import CellId, Role


def test_a_deployed_build_is_named_once() -> None:
    words = ("allocator=jemalloc",)
    itself = CellId("fast", "load", Role.DEPLOYMENT, base="fast", versus=words)
    assert itself.name == "deployed: fast, allocator=jemalloc / load"
    beside = CellId("fast", "load", Role.DEPLOYMENT, base="baseline", given=("tls",), versus=words)
    assert beside.name == "deployed, baseline, tls: fast, allocator=jemalloc / load"
