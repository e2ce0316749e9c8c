"""Names that share a reason, so that it is said once; pure."""

from __future__ import annotations

from collections.abc import Iterable


def by_reason(reasons: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names by the reason that they share, in the order in which they come.

    Args:
        reasons: of each name (name, reason); a name may come again.
    """
    result: dict[str, dict[str, None]] = {}
    for name, reason in reasons:
        result.setdefault(reason, {})[name] = None
    return {reason: list(names) for reason, names in result.items()}
