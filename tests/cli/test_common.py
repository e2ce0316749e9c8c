"""What all verbs share: whether somebody can be asked."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from burnish.cli.common import asker


def test_nobody_is_asked_where_a_stream_is_closed_or_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, file = SimpleNamespace(isatty=lambda: True), SimpleNamespace(isatty=lambda: False)
    found = {}
    for name, stdin, stderr in (
        ("terminal", terminal, terminal),
        ("piped", file, terminal),
        ("no input", None, terminal),
        ("no output", terminal, None),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", stdin)
            patched.setattr(sys, "stderr", stderr)
            found[name] = asker() is not None
    assert found == {"terminal": True, "piped": False, "no input": False, "no output": False}
