"""The verb that times single functions from two source trees."""

from __future__ import annotations

import secrets

from burnish.base import paths
from burnish.bench.blocks import Times
from burnish.catalogue.micro import micros
from burnish.cli import options as o
from burnish.cli import readers
from burnish.cli.common import asker, print_document, print_json, progress, verb
from burnish.cli.declaration import Argument
from burnish.report.sections import micro as report
from burnish.report.values import catalogue as values
from burnish.study.micro import run as running
from burnish.study.micro.trees import SideRequest


@verb(
    "micro",
    Argument("names", "NAME", "Functions to time.", readers.verbatim, unset="all", many=True, required=False),
    o.TREE_A,
    o.TREE_B,
    o.PATCH_A,
    o.PATCH_B,
    o.VARIANT,
    o.CROSS_CHECK,
    o.MICRO_STARTS,
    o.MICRO_PAIRS,
    o.SEED,
    o.YES,
    o.QUIET,
    o.LIST,
    o.JSON,
    example="burnish micro crc32c --patch-b patches/arm-2020/crc32c-hardware",
)
def micro(
    names: tuple[str, ...],
    a: str | None,
    b: str | None,
    patch_a: tuple[str, ...],
    patch_b: tuple[str, ...],
    variant: str,
    cross_check: str | None,
    starts: int,
    pairs: int,
    seed: int | None,
    yes: bool,
    only_list: bool,
    as_json: bool,
) -> None:
    """Time one function from two source trees against each other.

    First it is checked that both return the same.
    """
    if only_list:
        _list(as_json)
        return
    request = running.Request(
        names=names,
        sides=(SideRequest(a, patch_a), SideRequest(b, patch_b)),
        variant=variant,
        check=cross_check,
        times=Times(starts=starts, pairs=pairs),
        seed=secrets.randbelow(2**31) if seed is None else seed,
        yes=yes,
    )
    result = running.micro(paths.home(), request, progress, asker())
    if as_json:
        print_json("micro", result.as_dict())
    else:
        print_document(report.document(result))


def _list(as_json: bool) -> None:
    every = micros().values()
    if as_json:
        print_json("micros", values.micros(every))
    else:
        print_document(report.listing(every))
