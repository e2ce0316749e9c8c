"""docs/ENGINES.md names all that an engine's files may hold, and all that its code is asked for or given."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from burnish.base.system import Group
from burnish.base.workbench import Workbench
from burnish.catalogue import deployment, engines, options, packaging
from burnish.catalogue.edge import Entry
from burnish.engines.build_job import BuildJob
from burnish.engines.contract import Engine
from burnish.engines.gate_report import GateReport
from burnish.engines.loads import Loads
from burnish.engines.packaged import PackagedServer
from burnish.engines.reported import Reported
from burnish.engines.side import Side, SideSpec, Tick, Writes
from burnish.program.built import Built, CompiledObject, Identity

PAGE = Path(__file__).parents[1] / "docs" / "ENGINES.md"

FILE, LOAD, BUILD, PROGRAM, RUN = (f"Step {number}" for number in range(1, 6))
LOADS, CONDITIONS, OPTIONS, RARE = "More loads", "Conditions", "Options, packages, studies", "Keys you rarely need"

KEYS = {
    "_Engine": (FILE, RARE),
    "_FeatureSet": (FILE,),
    "_Costs": (FILE,),
    "_Training": (FILE,),
    "_Times": (FILE,),
    "_Different": (FILE,),
    "_Linking": (RARE,),
    "_Precompiled": (RARE,),
    "BetweenSittings": (RARE,),
    "_Settings": (CONDITIONS,),
    "PackagingEntry": (CONDITIONS,),
    "_RootTrial": (CONDITIONS,),
    "_Workload": (LOAD,),
    "_Promise": (CONDITIONS,),
    "_Choice": (CONDITIONS,),
    "_Ways": (CONDITIONS,),
    "_Common": (CONDITIONS,),
    "_File": (CONDITIONS,),
    "_Option": (OPTIONS,),
}
"""By the model of a table, beginnings of the headings under which its keys are named."""

MEMBERS = {
    Engine: (BUILD, PROGRAM, RUN, LOADS, CONDITIONS),
    Side: (RUN,),
    Loads: (LOADS,),
    PackagedServer: (CONDITIONS,),
    BuildJob: (BUILD,),
    CompiledObject: (BUILD,),
    Built: (PROGRAM,),
    Identity: (PROGRAM,),
    GateReport: (PROGRAM,),
    Workbench: (PROGRAM,),
    SideSpec: (RUN,),
    Tick: (RUN,),
    Writes: (RUN,),
    Reported: (RUN,),
    Group: (OPTIONS,),
}
"""The same of what an engine's code derives from, is given or returns."""


def models() -> list[type[Entry]]:
    """The model of each table of an engine's files."""
    modules = (engines, packaging, deployment, options)
    found = [
        value
        for module in modules
        for value in vars(module).values()
        if getattr(value, "__module__", "") == module.__name__
    ]
    return [value for value in found if isinstance(value, type) and issubclass(value, Entry)]


def keys(model: type[Entry]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def members(described: type) -> set[str]:
    """A value's attributes and properties; the methods and attributes of a class to derive from."""
    if is_dataclass(described):
        properties = {name for name, value in vars(described).items() if isinstance(value, property)}
        return {field.name for field in fields(described)} | properties
    return {name for name in {*vars(described), *inspect.get_annotations(described)} if not name.startswith("_")}


def named(page: str, heads: tuple[str, ...]) -> set[str]:
    """Words of all code within the text under these headings; what is in a block of code is no explanation."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    parts = [part for part in re.split(r"^## ", text, flags=re.MULTILINE) if part.startswith(heads)]
    assert len(parts) == len(heads), f"{heads}: {len(parts)} headings of {PAGE.name} begin so"
    spans = re.findall(r"`([^`]+)`", "".join(parts))
    return {word for span in spans for word in re.findall(r"\w+", span)}


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_key_of_an_engines_files_is_named(model: type[Entry]) -> None:
    assert model.__name__ in KEYS, "a table that is new: write its keys into ENGINES.md, and their heading into KEYS"
    assert keys(model) - named(PAGE.read_text(), KEYS[model.__name__]) == set()


@pytest.mark.parametrize("described", MEMBERS, ids=lambda described: described.__name__)
def test_all_that_an_engines_code_is_asked_for_or_given_is_named(described: type) -> None:
    assert members(described) - named(PAGE.read_text(), MEMBERS[described]) == set()


def test_a_key_that_is_not_named_is_found() -> None:
    page = "## Step 1: say\n`name`, `training.seconds`\n```toml\nladder = 1\n```\n## Step 2: load\n`hidden`\n"
    assert {"name", "seconds", "ladder", "hidden"} - named(page, (FILE,)) == {"ladder", "hidden"}
