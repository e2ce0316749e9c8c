"""Rows of plain values as a Parquet file; needs pyarrow, which is not installed unless it is asked for."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from burnish.base.errors import UserError

_TYPES = {str: "string", int: "int64", float: "float64"}


def parquet(columns: Mapping[str, type], values: Mapping[str, Sequence[Any]]) -> bytes:
    """A file with these columns.

    Args:
        columns: the type of each column, by name, in order.
        values: the values of each column; None is a missing value.

    Raises:
        UserError: pyarrow is not installed.
    """
    try:
        arrow, file = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise UserError(
            "--format parquet: pyarrow is not installed; install it with `pip install 'burnish[parquet]'` "
            "(in a checkout `.venv/bin/pip install pyarrow`), or use --format csv"
        ) from None
    kinds = {name: getattr(arrow, _TYPES[kind])() for name, kind in columns.items()}
    table = arrow.table({name: arrow.array(list(values[name]), type=kinds[name]) for name in columns})
    out = io.BytesIO()
    file.write_table(table, out)
    return out.getvalue()
