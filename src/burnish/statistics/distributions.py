"""Distributions by the functions of `scipy.special`, to the bit as `scipy.stats` has them; pure.

`scipy.stats` takes longer to import than a short call of the command line takes for all the rest.
"""

from __future__ import annotations

import math

import numpy as np
import scipy


def normal_density(x: float) -> float:
    """Density of the standard normal distribution."""
    return float(np.exp(-(x**2) / 2.0) / math.sqrt(2.0 * math.pi))


def normal_quantile(p: float) -> float:
    """Quantile of the standard normal distribution."""
    return float(scipy.special.ndtri(p))


def t_quantile(p: float, df: float) -> float:
    """Quantile of Student's t distribution."""
    return float(scipy.special.stdtrit(df, p))


def chi2_density(x: float, df: float) -> float:
    """Density of the chi-square distribution at a value above 0."""
    half = df / 2.0
    log = scipy.special.xlogy(half - 1.0, x) - x / 2.0 - scipy.special.gammaln(half) - (math.log(2.0) * df) / 2.0
    return float(np.exp(log))


def chi2_quantile(p: float, df: float) -> float:
    """Quantile of the chi-square distribution."""
    return float(2 * scipy.special.gammaincinv(df / 2, p))


def chi2_upper(x: float, df: float) -> float:
    """Probability that a chi-square variable exceeds a value that is not negative."""
    return float(scipy.special.chdtrc(df, x))
