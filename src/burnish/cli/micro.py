"""The verb that times a function by itself, out of two trees."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.base import paths
from burnish.bench.blocks import Times
from burnish.catalogue.micro import micros
from burnish.cli.common import AsJson, Seed, Yes, app, asker, progress, show_document, show_values
from burnish.report.sections import micro as report
from burnish.report.values import catalogue as values
from burnish.study.micro import run as running
from burnish.study.micro.trees import SideRequest

TreeOption = Annotated[
    str | None,
    typer.Option(
        help="A build folder with compile_commands.json, a folder of sources, a build of the store, or the engine's "
        "name; default: the engine's own source.",
    ),
]
Patches = Annotated[
    list[str] | None,
    typer.Option(help="A unified diff or a shipped patch (patches/SET/NAME) on top of that side; may be repeated."),
]


@app.command(epilog="Example: burnish micro crc32c --patch-b patches/arm-2020/crc32c-hardware")
def micro(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Which; default: all.")] = None,
    a: TreeOption = None,
    b: TreeOption = None,
    patch_a: Patches = None,
    patch_b: Patches = None,
    variant: Annotated[str, typer.Option(help="How sources are configured.")] = "baseline",
    check: Annotated[
        str | None, typer.Option(help="Cross-compile too (aarch64), and check the results under qemu.")
    ] = None,
    starts: Annotated[int, typer.Option(min=3, max=200, help="Launches of both sides.")] = Times.starts,
    pairs: Annotated[int, typer.Option(min=3, max=1000, help="Pairs of blocks in a start.")] = Times.pairs,
    only_list: Annotated[bool, typer.Option("--list", help="List the functions instead.")] = False,
    seed: Seed = 1,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Time one function out of two trees' own objects against each other, after checking that both give the same."""
    if only_list:
        _list(as_json)
        return
    request = running.Request(
        names=tuple(names or ()),
        sides=(SideRequest(a, tuple(patch_a or ())), SideRequest(b, tuple(patch_b or ()))),
        variant=variant,
        check=check,
        times=Times(starts=starts, pairs=pairs),
        seed=seed,
        yes=yes,
    )
    result = running.micro(paths.home(), request, progress, asker())
    if as_json:
        show_values(result.as_dict())
    else:
        show_document(report.document(result))


def _list(as_json: bool) -> None:
    every = micros().values()
    if as_json:
        show_values(values.micros(every))
    else:
        show_document(report.listing(every))
