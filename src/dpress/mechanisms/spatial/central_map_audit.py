"""Audit of a curator's map: that of the mechanism that measures it."""

from collections.abc import Iterator

from dpress.audit.verdict import Check
from dpress.core.basics.rng import Generator
from dpress.mechanisms.linear import matrix_mechanism_audit
from dpress.mechanisms.spatial.central_map import CentralMap


def exact(made: CentralMap) -> Iterator[Check]:
    """Yield the exact check of the noise."""
    yield from matrix_mechanism_audit.exact(made.matrix)


def sampled(made: CentralMap, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled check of the noisy answers."""
    yield from matrix_mechanism_audit.sampled(made.matrix, samples, rng=rng)
