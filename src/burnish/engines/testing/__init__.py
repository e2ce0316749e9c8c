"""Tests that every engine passes: an engine's own tests derive from them (pytest must be installed).

    from burnish.engines.testing import EngineContract

    class TestTally(EngineContract):
        name = "tally"

An engine whose source does not lie beside its code overrides the fixture `source`; one that is not built in a test but
is there already leaves `BuildContract` and `GateContract` out and overrides `built`. See docs/ENGINES.md.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    *(f"{__name__}.{part}" for part in ("builds", "conditions", "files", "programs", "sides"))
)

from burnish.engines.testing.base import Contract, Made, PlainBench, make_build  # noqa: E402 - the order is the point
from burnish.engines.testing.builds import BuildContract, GateContract  # noqa: E402
from burnish.engines.testing.conditions import ConditionContract  # noqa: E402
from burnish.engines.testing.files import FilesContract  # noqa: E402
from burnish.engines.testing.programs import ProgramContract  # noqa: E402
from burnish.engines.testing.sides import SideContract  # noqa: E402

__all__ = [
    "BuildContract",
    "ConditionContract",
    "Contract",
    "EngineContract",
    "FilesContract",
    "GateContract",
    "Made",
    "PlainBench",
    "ProgramContract",
    "SideContract",
    "make_build",
]


class EngineContract(FilesContract, BuildContract, GateContract, ProgramContract, SideContract, ConditionContract):
    """All of the contract, for an engine that is built from source in the test."""
