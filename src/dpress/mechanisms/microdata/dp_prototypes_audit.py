"""Audit of prototypes: every measurement of its levels by itself; their losses add up."""

from collections.abc import Iterator

from dpress.audit.verdict import Check
from dpress.core.basics.rng import Generator
from dpress.mechanisms.linear import matrix_mechanism_audit
from dpress.mechanisms.microdata.dp_prototypes import DpPrototypes


def exact(made: DpPrototypes) -> Iterator[Check]:
    """Yield the exact checks of all levels."""
    for level in made.levels:
        yield from matrix_mechanism_audit.exact(level)


def sampled(made: DpPrototypes, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled checks of all levels."""
    for level in made.levels:
        yield from matrix_mechanism_audit.sampled(level, samples, rng=rng)
