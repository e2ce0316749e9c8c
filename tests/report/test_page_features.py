"""The page's table of features in which builds differ."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from burnish.program.built import LINKED, THROUGH, Identity
from burnish.report.document import Points, Table
from burnish.report.page import facts
from burnish.report.page.details import Details


def details(*libraries: dict[str, str]) -> Details:
    """Programs of which nothing is known but the libraries."""
    identities = {f"b{number}": Identity("1", tuple(one.items()), "") for number, one in enumerate(libraries)}
    return cast("Details", SimpleNamespace(identities=identities))


def test_how_a_library_comes_to_be_loaded_is_no_row() -> None:
    same = facts._differing(
        details({"library a": LINKED, "library b": LINKED}, {"library a": LINKED, "library b": THROUGH})
    )
    assert isinstance(same, Points)
    other = facts._differing(details({"library a": LINKED, "library b": THROUGH}, {"library c": LINKED}))
    assert isinstance(other, Table)
    assert [row.cells[0].lines[0].text for row in other.rows][:-1] == ["library a", "library c"]
