"""Which rows of a bundled study a recommendation can be made of; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def over_baseline(body: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """By series and row, the keys of what is held against the series' baseline: what a recommendation is made of.

    A row that is held against another row's build says nothing of the baseline, a control is the baseline itself, and
    a program that was not built here is none to build with.

    Args:
        body: the record's ``shipped`` event.
    """
    found: dict[str, dict[str, list[str]]] = {}
    controls_ = {each["row"] for each in body["comparisons"] if each["control"] and _is_baseline(each)}
    for each in body["comparisons"]:
        built = each["candidate"] in body["builds"]
        if built and each["cell"] is not None and each["row"] not in controls_ and _is_baseline(each):
            found.setdefault(each["series"], {}).setdefault(each["row"], []).append(each["key"])
    return found


def _is_baseline(each: Mapping[str, Any]) -> bool:
    return each["base"] in ("baseline", f"{each['series']}.baseline")
