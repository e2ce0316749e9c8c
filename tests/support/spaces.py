"""Spaces of searches on the fake engine, as the text of a file that `--space` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_TRUTH = "Known truth: each level does so many per cent of the baseline's work in the same time."


def choice(name: str, reason: str, *, marks: tuple[str, ...] = (), expected: float = 1.0, **macros: str) -> str:
    """A choice of the fake server's macros, by level; `usual` has none."""
    return _choice(name, reason, "compile", expected, marks, {}, macros)


def speed(*, step: str = "compile", expected: float = 20.0, recipe: Mapping[str, Any] | None = None, **to: int) -> str:
    """The choice `speed`: by level, per cent of the baseline's speed; `recipe` is what each level has beside it."""
    macros = {level: f"FAKE_SPEED={percent}" for level, percent in to.items()}
    return _choice("speed", _TRUTH, step, expected, (), recipe or {}, macros)


def rung(name: str, reason: str, **levels: str) -> str:
    """A build that is known to be good, by its choices that do not have their usual level."""
    return f"[rung.{name}]\nreason = {json.dumps(reason)}\nlevels = {_table(levels)}"


def written(path: Path, *parts: str) -> Path:
    """Writes a space of these choices and builds; returns the path."""
    path.write_text("\n".join(["bolt_defaults = []", *parts, ""]))
    return path


def _choice(
    name: str,
    reason: str,
    step: str,
    expected: float,
    marks: tuple[str, ...],
    recipe: Mapping[str, Any],
    macros: Mapping[str, str],
) -> str:
    levels = {level: _table({"c": [f"-D{macro}"], **recipe}) for level, macro in macros.items()}
    return "\n".join(
        [
            f"[choice.{name}]",
            f"reason = {json.dumps(reason)}",
            f'step = "{step}"',
            f"expected = {expected}",
            *([f"marks = {json.dumps(marks)}"] if marks else []),
            *(f"levels.{level} = {content}" for level, content in {"usual": "{}", **levels}.items()),
        ]
    )


def _table(values: Mapping[str, Any]) -> str:
    return f"{{ {', '.join(f'{name} = {json.dumps(value)}' for name, value in values.items())} }}"
