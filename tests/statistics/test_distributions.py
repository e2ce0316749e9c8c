"""The distributions that are used, against `scipy.stats`, which Burnish does not import."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import burnish
from burnish.statistics import distributions, multiplicity

P = (1e-9, 0.025, 0.3, 0.5, 0.975, 1.0 - 1e-9)
X = (1e-3, 0.5, 2.0, 30.0)
DF = (1, 2, 3.5, 17)


@pytest.mark.parametrize(
    ("own", "theirs", "arguments"),
    [
        (distributions.normal_density, scipy.stats.norm.pdf, [(x,) for x in (-3.0, 0.0, *X)]),
        (distributions.normal_quantile, scipy.stats.norm.ppf, [(p,) for p in P]),
        (distributions.t_quantile, scipy.stats.t.ppf, [(p, df) for p in P for df in DF]),
        (distributions.chi2_density, scipy.stats.chi2.pdf, [(x, df) for x in X for df in DF]),
        (distributions.chi2_quantile, scipy.stats.chi2.ppf, [(p, df) for p in P for df in DF]),
        (distributions.chi2_upper, scipy.stats.chi2.sf, [(x, df) for x in (0.0, *X) for df in DF]),
    ],
)
def test_a_distribution_is_that_of_scipy_stats(
    own: Callable[..., float], theirs: Callable[..., float], arguments: list[tuple[float, ...]]
) -> None:
    assert [own(*each) for each in arguments] == pytest.approx([theirs(*each) for each in arguments], rel=1e-14, abs=0)


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_benjamini_hochberg_is_that_of_scipy_stats(count: int) -> None:
    p = np.random.default_rng(count).uniform(0.0, 1.0, count) ** 3
    p[-1] = p[0]
    theirs = scipy.stats.false_discovery_control(p, method="bh")
    assert multiplicity.benjamini_hochberg(list(p)) == pytest.approx(theirs, rel=1e-14)


def test_nothing_imports_scipy_stats() -> None:
    """It takes longer than all else that a short call imports."""
    root = Path(burnish.__file__).parent
    assert [path for path in root.rglob("*.py") if "scipy.stats." in path.read_text()] == []
    names = sorted(path.stem for path in (root / "statistics").glob("[a-z]*.py"))
    script = "import sys\n" + "".join(f"import burnish.statistics.{name}\n" for name in names)
    script += "assert 'scipy.stats' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
