"""Masks what differs between two runs of one command: figures, times, digests, paths, host, toolchain; pure.

What is left must be the same on every machine and with every version of the compiler: keys, the order of rows, names,
roles, labels, counts, and the words of reasons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

NOISY = {"faster", "slower", "equivalent", "undecided"}
"""Verdicts that a reading can change; `no effect`, `measured` and `invalid` are kept."""

FIXED_FLOATS = {"alpha", "fast_alpha", "delta", "precision", "level"}
"""Keys whose floats are part of the request or of the rule, not measured."""
FIXED_FOLDS = {"timings", "timing", "workloads"}
"""Keys below which every figure is part of the request."""

WHOLE = {
    "sizes": "<sizes>",  # sections of a program: their names too are the linker's choice
    "versions": "<versions>",
    "core_sets": "<cores>",
    "hardware": "<counters>",
    "latency": "<latency>",
    "heaviest": "<objects>",  # in the order of memory measured
    "missing": "<compilers>",  # which this machine does not have
    "cache_use": "<cache>",
    "compiled": "<objects>",  # fewer where there is a compiler cache
    "unsettled": "<count>",  # pairs whose warm-up had not levelled off
    "best_pairs": "<count>",
    "functions": "<count>",
    "events": "<count>",
    "facts": "<host>",
    "answers": "<answers>",  # they count verdicts, of which a reading can change one
}
"""Keys whose values are masked whole."""
LEFT_OUT = {"quotients"}
"""Keys that are there or not by which verdicts a reading gave: where two rows are both proved faster."""
PROSE = {"sentences", "advice", "notes", "measured"}
"""Keys whose strings are about figures; all their figures are masked."""
_AMOUNT = re.compile(r"(^|_)(seconds|bytes|value)$")

_COUNT = r"(?<![\w.#/-])[+-]?\d[\d,]*(?:\.\d+)?"
_TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\d{8}-\d{6}(?:-\d+)?")
_DIGEST = re.compile(r"(?<![\w-])(?=\w*\d)[0-9a-f]{12,64}(?!\w)")
_DIGEST_IN_NAME = re.compile(r"(?<=-)(?=\w*\d)[0-9a-f]{12,64}(?=\.)")
_PATH = re.compile(r"(?<![\w.<>/-])/(?:[\w.+@-]+/)+[\w.+@-]*")
_TEXT = (
    (_TIMES, "<time>"),
    (_DIGEST, "<digest>"),
    (_DIGEST_IN_NAME, "<digest>"),
    (_PATH, "<path>"),
    (re.compile(r"(?<=-merged-)[0-9a-f]{8}(?!\w)"), "<digest>"),
    (re.compile(r"on this machine; there are: [^;]*"), "on this machine; there are: <compilers>"),
    (re.compile(r"\b(gcc|g\+\+|clang)-(?!99)\d+"), r"\1-<n>"),
    (re.compile(r"\bglibc [\d.]+"), "glibc <n>"),
    (re.compile(r"\b\d+ of \d+ functions?\b"), "<n> of <n> functions"),
    (re.compile(r"\b(peak of \S+, )\d+ s\b"), r"\1<time>"),
)
_FIGURES = (
    (re.compile(r"the ceiling is (?:none to speak of|\d[\d.]*x)"), "the ceiling is <ceiling>"),
    (re.compile(_COUNT + r" (?:ns|us|µs|ms|s)\b"), "<time>"),
    (re.compile(_COUNT + r"(?=[%x]?(?!\w))"), "<n>"),
)


def mask(value: Any, *, sure: frozenset[str] = frozenset(), names: Mapping[str, str] | None = None) -> Any:
    """The value with all masked that a run, a machine or a compiler decides.

    Args:
        value: parsed JSON.
        sure: candidates, and rows of bundled studies, whose verdict is known whatever the noise; others' verdicts,
            with the reasons of these, are masked.
        names: texts that are replaced first, each with what stands for it: paths that tell two sides apart.
    """
    return _Mask(sure, names or {}).of(value, "", certain=None, fixed=False)


class _Mask:
    """See `mask`."""

    def __init__(self, sure: frozenset[str], names: Mapping[str, str]) -> None:
        self._sure = sure
        self._names = names

    def of(self, value: Any, key: str, *, certain: bool | None, fixed: bool) -> Any:
        """One value under its key; `certain` within a row: whether its verdict is known; `fixed` within the request."""
        if key in WHOLE and value is not None:
            return WHOLE[key]
        if key == "host" and not (isinstance(value, str) and len(value) == 1):
            return "<host>"  # a merged record's hosts are letters, which stay
        fixed = fixed or key in FIXED_FOLDS
        if isinstance(value, dict):
            return self._of_dict(value, certain=certain, fixed=fixed)
        if isinstance(value, list):
            return [self.of(one, key, certain=certain, fixed=fixed) for one in value]
        if isinstance(value, str):
            return self._of_text(value, key)
        if value is None or isinstance(value, bool) or fixed:
            return value
        if _AMOUNT.search(key):
            return "<number>"  # whole by chance, or because it is a median of an odd number
        if key == "level" and certain is False:
            return "<level>"  # that of the interval on which the verdict rests
        return "<float>" if isinstance(value, float) and key not in FIXED_FLOATS else value

    def _of_dict(self, value: dict[str, Any], *, certain: bool | None, fixed: bool) -> dict[str, Any]:
        who = value.get("candidate") or value.get("row")
        if who is not None:
            certain = self._text(str(who)) in self._sure
        masked = {
            self._text(name): self.of(one, name, certain=certain, fixed=fixed)
            for name, one in value.items()
            if name not in LEFT_OUT
        }
        if "heaviest" in value:
            masked |= {"link": "<link>", "known": "<objects>"}  # a compiler cache knows nothing of memory
        if value.get("verdict") in NOISY and not certain:
            masked["verdict"] = "<verdict>"
            masked |= {name: f"<{name}>" for name in ("reason", "together") if isinstance(masked.get(name), str)}
            masked |= {name: f"<{name}>" for name in ("within", "alone") if name in masked}
            masked |= {"holds": "<holds>"} if masked.get("holds") else {}
        masked |= self._of_quantities(value)
        return masked

    def _of_quantities(self, value: dict[str, Any]) -> dict[str, str]:
        """Quantities with a verdict of their own, on which the level of the interval rests: no reading is certain."""
        own = value.get("verdicts")
        return dict.fromkeys(own, "<interval>") | {"verdicts": dict.fromkeys(own, "<verdict>")} if own else {}

    def _of_text(self, text: str, key: str) -> str:
        text = self._text(text)
        if key in PROSE:
            for pattern, sign in _FIGURES:
                text = pattern.sub(sign, text)
        return text

    def _text(self, text: str) -> str:
        for name, sign in self._names.items():
            text = text.replace(name, sign)
        for pattern, sign in _TEXT:
            text = pattern.sub(sign, text)
        return text
