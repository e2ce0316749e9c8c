"""BOLT's options as its own help has them, and recipes' options compared with them."""

from __future__ import annotations

import pytest

from burnish.base import process
from burnish.base.errors import UserError
from burnish.builds.stages import BOLT_OPTIONS
from burnish.catalogue import load
from burnish.toolchain.bolt_options import check_options, known_options
from burnish.toolchain.toolchains import Toolchain

HELP = """
BOLT optimization options:

  --align-functions=<uint>                              - align functions at a given value
  --asm-dump[=<dump folder>]                            - dump function into assembly
  --icf                                                 - fold functions with identical code
  --reorder-blocks=<value>                              - change layout of basic blocks in a function
    =none                                               -   do not reorder basic blocks
    =ext-tsp                                            -   perform layout optimizing I-cache behavior
  -v <uint>                                             - set verbosity level
"""


def test_options_and_their_values() -> None:
    assert known_options(HELP) == {
        "align-functions": (),
        "asm-dump": (),
        "icf": ("true", "false", "1", "0"),
        "reorder-blocks": ("none", "ext-tsp"),
        "v": (),
    }


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("-reorder-blocs=none", "unknown option of variant v: bolt 'reorder-blocs' (did you mean 'reorder-blocks'?)"),
        ("-reorder-blocks=exttsp", "'exttsp' (did you mean 'ext-tsp'?); there are: ext-tsp, none"),
        ("reorder-blocks", "'reorder-blocks' is not an option; write -name or -name=value"),
        ("-data=x", "'-data=x' is set by Burnish itself"),
    ],
)
def test_what_bolt_does_not_know_is_refused(option: str, says: str) -> None:
    with pytest.raises(UserError) as caught:
        check_options("variant v: bolt", ["-icf=1", option], known_options(HELP))
    assert says in str(caught.value)
    assert len(str(caught.value)) < 300


def test_the_catalogues_options_are_known_here(clang: Toolchain) -> None:
    if clang.bolt is None:
        pytest.skip("no BOLT")
    known = known_options(process.capture([clang.bolt, "--help-hidden"]))
    check_options("usual", BOLT_OPTIONS, known)
    for variant in load.variants().values():
        check_options(variant.name, variant.recipe.bolt_options, known)
