"""Noise for real answers: round to a public lattice first, add integer noise, scale back by a power of two.

Floating-point Laplace noise leaks its input through the low bits (Mironov 2012; Haney et al. 2022). Here every answer
is a whole number of steps whatever the data: the set of possible answers says nothing.

Paper: `laplace` is Dwork, McSherry, Nissim, Smith 2006 (foundations, Theorem 4) with the noise of Ghosh et al. 2009.
The rounding: each value moves by at most step/2, so two neighbours' values move apart by at most one step each, and
m of them by m steps in L1 and sqrt(m) steps in L2. In whole steps the L1 sensitivity is floor(s / step) + m.

Flow: values -> whole steps (int64) -> + integer noise -> times step (a power of two, so only the last bits of answers
beyond 2^53 steps are rounded, after the fact).
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator
from dpress.noise.distribution import Noise
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace, Integers

Reals = npt.NDArray[np.float64]

FINENESS = 2**12
"""Rounding costs at most this share of the sensitivity, 1/4096; finer steps would only shorten the reach."""
REACH = 2.0**61
LARGEST_EXPONENT = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyAnswers:
    """Noisy real answers and what they cost.

    Args:
        answers: float64, multiples of `step`.
        step: distance of the lattice's points, a power of two; rounding biases an answer by at most step/2.
        loss: what the answers cost, the rounding included.
        variance: of each answer's noise.
    """

    answers: Reals
    step: float
    loss: Loss
    variance: float


def _step(sensitivity: Fraction, roundings: Fraction) -> Fraction:
    """Return the largest power of two with roundings * step <= sensitivity / FINENESS; all arguments are public."""
    if sensitivity <= 0:
        raise ValueError(f"sensitivity must be > 0, got sensitivity={sensitivity}")
    most = sensitivity / (roundings * FINENESS)
    exponent = most.numerator.bit_length() - most.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > most
    if abs(exponent) > LARGEST_EXPONENT:
        raise ValueError("sensitivity must lie between 1e-100 and 1e100, for float answers")
    return Fraction(2) ** exponent


def _whole_steps(values: Reals, step: float) -> Integers:
    """Return the values in whole steps, rounded to nearest; dividing by a power of two is exact."""
    numbers = np.asarray(values, dtype=np.float64)
    if not np.all(np.abs(numbers) <= REACH * step):
        raise ValueError(f"values must be finite and within +-{REACH * step:.3g}: bound them before they come here")
    return np.rint(numbers / step).astype(np.int64)


def _add(values: Reals, step: Fraction, noise: Noise, loss: Loss, *, rng: Generator) -> NoisyAnswers:
    """Add noise in whole steps: below 2^61 + 2^62 in size, so that int64 holds the sum."""
    width = float(step)
    steps = _whole_steps(values, width)
    noisy = steps + noise.sample(steps.size, rng=rng).reshape(steps.shape)
    answers = np.multiply(noisy, width, dtype=np.float64)
    return NoisyAnswers(answers=answers, step=width, loss=loss, variance=noise.variance * width**2)


def laplace(values: Reals, *, epsilon: check.Number, l1_sensitivity: check.Number, rng: Generator) -> NoisyAnswers:
    """Return real answers with Laplace noise that keeps its promise in floating point.

    Promise: epsilon-DP, exactly (published and proven; every unit, both relations, central model), when the float
        values themselves, as given, differ by at most `l1_sensitivity` between neighbours. A refusal depends on the
        values and is not protected: bound them from public numbers first.
    Error: variance 2q / (1 - q)^2 step^2 with q = exp(-epsilon / (floor(l1_sensitivity / step) + m)),
        at most 0.05 % above 2 (l1_sensitivity / epsilon)^2; and a bias of at most step/2 from rounding.
    Paper: Dwork, McSherry, Nissim, Smith 2006 (foundations, Theorem 4); lattice as in this file's heading.

    Args:
        values: m true answers.
        epsilon: the loss.
        l1_sensitivity: largest L1 distance of the values between neighbours.
        rng: the generator.

    Raises:
        ValueError: a value is not finite or out of reach (it is not shown), or a parameter out of range.

    >>> from dpress.core.basics import rng
    >>> laplace(np.array([0.25, 7.5]), epsilon=1, l1_sensitivity=1, rng=rng.seeded(1)).step
    0.0001220703125
    """
    epsilon = check.loss_parameter("epsilon", epsilon)
    sensitivity = check.exact("l1_sensitivity", l1_sensitivity)
    roundings = max(1, np.size(values))
    step = _step(sensitivity, Fraction(roundings))
    steps = Fraction(math.floor(sensitivity / step) + roundings)
    noise = DiscreteLaplace.calibrate(epsilon=epsilon, l1_sensitivity=steps)
    return _add(values, step, noise, noise.loss(steps), rng=rng)


def gaussian(values: Reals, *, rho: check.Number, l2_sensitivity: check.Number, rng: Generator) -> NoisyAnswers:
    """Return real answers with Gaussian noise that keeps its promise in floating point.

    Promise: rho-zCDP, exactly (published and proven; every unit, both relations, central model), when the float
        values themselves, as given, differ by at most `l2_sensitivity` between neighbours. A refusal depends on the
        values and is not protected: bound them from public numbers first.
    Error: variance (l2_sensitivity + r step)^2 / (2 rho), r = sqrt(m) rounded up to 2^-20, at most 0.05 % above
        l2_sensitivity^2 / (2 rho); and a bias of at most step/2 from rounding.
    Paper: Canonne, Kamath, Steinke 2020, Theorem 4; lattice as in this file's heading.

    Args:
        values: m true answers.
        rho: the loss.
        l2_sensitivity: largest L2 distance of the values between neighbours.
        rng: the generator.

    Raises:
        ValueError: a value is not finite or out of reach (it is not shown), or a parameter out of range.

    >>> from dpress.core.basics import rng
    >>> gaussian(np.array([0.25, 7.5]), rho=0.5, l2_sensitivity=1, rng=rng.seeded(1)).loss
    ZCDP(rho=Fraction(1, 2))
    """
    rho = check.loss_parameter("rho", rho)
    sensitivity = check.exact("l2_sensitivity", l2_sensitivity)
    roundings = Fraction(math.isqrt(max(1, np.size(values)) << 40) + 1, 1 << 20)
    step = _step(sensitivity, roundings)
    squared = (sensitivity / step + roundings) ** 2
    noise = DiscreteGaussian.calibrate(rho=rho, l2_sensitivity_squared=squared)
    return _add(values, step, noise, noise.loss(squared), rng=rng)
