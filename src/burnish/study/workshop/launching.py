"""How a condition has a server launched: the allocator that is preloaded, and what glibc's malloc is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from burnish.base.errors import UserError
from burnish.base.system import install_command
from burnish.model.condition import Condition
from burnish.program.built import Built
from burnish.toolchain.link_parts import catalogue, installed_allocator

HUGE_HEAP = "glibc.malloc.hugetlb=1"
"""Has malloc ask for transparent huge pages; glibc 2.35 and newer, older ones ignore it."""


def check(condition: Condition) -> None:
    """Raises a `UserError` if this host lacks what the condition launches the server with."""
    variables_of(condition)


def launched(built: Built, condition: Condition) -> Built:
    """The build with the variables that it is launched with under a condition, beside its own."""
    own = dict(built.environment)
    for name, value in variables_of(condition).items():
        own[name] = f"{own[name]}:{value}" if name in own else value
    return replace(built, environment=tuple(own.items())) if own != dict(built.environment) else built


def all_launched(
    replicates: Mapping[str, tuple[Built, ...]], conditions: Mapping[str, Condition]
) -> dict[str, tuple[Built, ...]]:
    """The builds of each side, by its label, as they are launched under the side's condition."""
    return {
        label: tuple(launched(built, conditions.get(label, Condition())) for built in builts)
        for label, builts in replicates.items()
    }


def variables_of(condition: Condition) -> dict[str, str]:
    """The variables of a condition; none for the usual one.

    Raises:
        UserError: the allocator is not installed.
    """
    variables = {"GLIBC_TUNABLES": HUGE_HEAP} if condition.heap_pages else {}
    for name, entry in catalogue().allocators.items():
        if name != condition.allocator:
            continue
        library = installed_allocator(name)
        if library is None:
            raise UserError(
                f"allocator={name}: {' or '.join(entry.libraries)} is not installed; {install_command(entry.packages)}"
            )
        variables["LD_PRELOAD"] = str(library.path)
    return variables
