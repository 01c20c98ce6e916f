"""Which pairs of attributes depend on each other beyond the noise: one chi-square statistic each, from estimates."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpress.inference.consistency import Axes
from dpress.inference.joint.contrast import Contrast, contrasts
from dpress.inference.joint.pair_tables import Tables

ALPHA = 0.05
_NO_NOISE = 1e-24


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an estimated table says against independence of its two attributes.

    Args:
        axes: the pair.
        statistic: the squared residual over its mean under independence, times `freedom`: near it by noise alone.
        freedom: effective degrees of freedom of the chi-square distribution that has the same mean and variance.
        chance: of a statistic as large as this, were the attributes independent.
        dependent: whether that is below alpha divided by the number of pairs (Bonferroni).
    """

    axes: Axes
    statistic: float
    freedom: float
    chance: float
    dependent: bool


def evidence(tables: Tables, *, alpha: float = ALPHA) -> tuple[Evidence, ...]:
    """Return the evidence for every pair that some question holds and that can depend at all.

    Args:
        tables: consistent tables.
        alpha: chance of any false alarm.
    """
    return judged(contrasts(tables), alpha=alpha)


def judged(found: Sequence[Contrast], *, alpha: float = ALPHA) -> tuple[Evidence, ...]:
    """Return the evidence that every contrast is, in the same order.

    With chance alpha at most, about, some pair is called dependent though all attributes are independent: where no pair
    is, the fitted joint cannot be told from the product of one-way tables. The converse is no proof of independence.
    Error: the law of the statistic is approximate (normal noise, Satterthwaite's moments, estimated one-way shares).

    Args:
        found: of all pairs that are judged together.
        alpha: chance of any false alarm.
    """
    return tuple(_evidence(one, alpha / len(found)) for one in found)


def _evidence(one: Contrast, level: float) -> Evidence:
    from scipy.special import gammaincc  # noqa: PLC0415 - loads slowly

    if one.mean < _NO_NOISE:
        certain = one.energy > _NO_NOISE
        return Evidence(axes=one.axes, statistic=one.energy, freedom=1.0, chance=1.0 - certain, dependent=certain)
    degrees = 2 * one.mean**2 / one.variance
    statistic = one.energy / one.mean * degrees
    chance = float(gammaincc(degrees / 2, statistic / 2))
    return Evidence(axes=one.axes, statistic=statistic, freedom=degrees, chance=chance, dependent=chance < level)
