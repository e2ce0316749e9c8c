"""The shipped microbenchmarks on MariaDB's own sources."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from burnish.base import paths
from burnish.bench.blocks import Times
from burnish.study.micro import run as running
from burnish.study.micro.run import Request
from burnish.study.micro.trees import SideRequest

SOURCE_VARIABLE = "BURNISH_TEST_MARIADB_SOURCE"


@pytest.mark.real
@pytest.mark.measures
@pytest.mark.timeout(1800)
def test_crc32c_without_the_processors_instructions_is_slower(tmp_path: Path) -> None:
    named = os.environ.get(SOURCE_VARIABLE)
    if not named or shutil.which("ninja") is None:
        pytest.skip(f"no source of MariaDB; name one in {SOURCE_VARIABLE}")
    asked = Request(
        names=("crc32c", "my_convert"),
        sides=(SideRequest(named), SideRequest(named, ("patches/arm-2020/crc32c-hardware",))),
        times=Times(starts=4, pairs=7),
        yes=True,
    )
    crc32c, converted = running.micro(paths.home(), asked, Console(stderr=True), None).outcomes
    assert crc32c.judgement is not None
    assert crc32c.judgement.interval is not None
    assert crc32c.judgement.interval.ratio < 1 / 1.5
    assert converted.identical, "a patch of checksums leaves conversion as it is"
