"""What noise was added to a table's counts: its distribution, its scale, and the lattice it was drawn on.

Data flow: mechanism -> Noise -> template.
"""

import math
from dataclasses import dataclass
from typing import Literal

from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """One distribution, in counts.

    Args:
        name: of its family.
        scale: the Laplace distribution's scale, or the Gaussian's sigma squared.
        deviation: the standard deviation.
    """

    name: Literal["laplace", "gaussian"]
    scale: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What was added to every noisy answer.

    Args:
        distributions: of all answers, each once.
        exponent: it was drawn in steps of two to this power, in counts.
        answers: how many there are.
    """

    distributions: tuple[Distribution, ...]
    exponent: int
    answers: int


def added_noise(mechanism: MatrixMechanism) -> Noise:
    """Return what noise a mechanism adds."""
    step = mechanism.strategy.map.step
    distributions = [
        Distribution(
            name=noise.tail,
            scale=float(noise.spread) * step**noise.order,
            deviation=math.sqrt(noise.variance) * step,
        )
        for noise in mechanism.noises
    ]
    return Noise(
        distributions=tuple(dict.fromkeys(distributions)),
        exponent=round(math.log2(step)),
        answers=mechanism.strategy.map.rows,
    )
