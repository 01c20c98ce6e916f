"""Draws per second on one core and timing leaks: dpress against OpenDP and NumPy's float noise, in one run.

python bench/noise.py > noise.json
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from dpress.core.basics import rng
from dpress.noise.distribution import Noise
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace
from machine import facts

SCALES = (1, 10, 1000)
REPEATS = 9
OURS, THEIRS, FLOATS = 1_000_000, 10_000, 1_000_000
SINGLES = 20_000

Sampler = Callable[[int], object]


def rate(sampler: Sampler, size: int) -> float:
    """Return the median of draws per second; the first call only warms up."""
    sampler(size)
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        sampler(size)
        seconds.append(time.perf_counter() - start)
    return size / statistics.median(seconds)


def opendp_sampler(kind: str, scale: int) -> Sampler:
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if kind == "laplace":
        measure = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=float(scale))
    else:
        measure = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=float(scale))
    return lambda size: measure([0] * size)


def noise_of(kind: str, scale: int) -> Noise:
    return DiscreteLaplace(scale=Fraction(scale)) if kind == "laplace" else DiscreteGaussian(sigma2=Fraction(scale**2))


def speed(kind: str, scale: int) -> dict[str, float | str | int]:
    noise, secure, floats = noise_of(kind, scale), rng.secure(), np.random.default_rng()  # noqa: TID251  # the unsafe peer
    ours = rate(lambda size: noise.sample(size, rng=secure), OURS)
    theirs = rate(opendp_sampler(kind, scale), THEIRS)
    unsafe = rate(lambda size: (floats.laplace if kind == "laplace" else floats.normal)(0, scale, size), FLOATS)
    return {
        "noise": kind,
        "scale": scale,
        "dpress_per_second": ours,
        "opendp_per_second": theirs,
        "numpy_float_per_second": unsafe,
        "ratio_to_opendp": ours / theirs,
        "ratio_to_numpy_float": ours / unsafe,
    }


def leak(draw: Callable[[], int]) -> dict[str, float]:
    """Return how far the time of single draws goes with |noise|; the slowest 1 % is the machine's."""
    seconds, sizes = np.empty(SINGLES), np.empty(SINGLES)
    for index in range(-1000, SINGLES):  # the first thousand warm up and are written over
        start = time.perf_counter_ns()
        value = draw()
        seconds[index] = time.perf_counter_ns() - start
        sizes[index] = abs(value)
    usual = seconds <= np.quantile(seconds, 0.99)
    return {
        "correlation": float(np.corrcoef(seconds[usual], sizes[usual])[0, 1]),
        "correlation_of_all": float(np.corrcoef(seconds, sizes)[0, 1]),
        "microseconds": float(np.median(seconds)) / 1000,
    }


def timing(scale: int) -> dict[str, object]:
    noise, secure = noise_of("laplace", scale), rng.secure()
    scalar = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=float(scale))
    ours = leak(lambda: int(noise.sample(1, rng=secure)[0]))
    return {"noise": "laplace", "scale": scale, "dpress": ours, "opendp": leak(lambda: scalar(0))}


def main() -> None:
    """Measure everything on one core and print JSON."""
    dp.enable_features("contrib")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    result = {
        "machine": facts(),
        "speed": [speed(kind, scale) for kind in ("laplace", "gaussian") for scale in SCALES],
        "timing": [timing(scale) for scale in (10, 1000)],
    }
    json.dump(result, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
