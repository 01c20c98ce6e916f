"""Audit of two levels of counts: each by itself; their losses add up."""

from collections.abc import Iterator

from dpress.audit.verdict import Check
from dpress.core.basics.rng import Generator
from dpress.mechanisms.linear import matrix_mechanism_audit
from dpress.mechanisms.spatial.adaptive_grid import AdaptiveGrid


def exact(made: AdaptiveGrid) -> Iterator[Check]:
    """Yield the exact checks of both levels."""
    for level in made.levels:
        yield from matrix_mechanism_audit.exact(level)


def sampled(made: AdaptiveGrid, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled checks of both levels."""
    for level in made.levels:
        yield from matrix_mechanism_audit.sampled(level, samples, rng=rng)
