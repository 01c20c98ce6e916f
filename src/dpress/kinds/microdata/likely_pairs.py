"""How far off tables of two attributes of records are likely to be, in words, before and after the rows are read."""

from typing import NamedTuple

from dpress.mechanisms.microdata import expected_pairs, shared_loss
from dpress.mechanisms.microdata.graphical import Graphical
from dpress.mechanisms.microdata.record_maker import RecordMaker


class LikelyPairs(NamedTuple):
    """How far off the shares of two attributes are likely to be.

    Args:
        error: the mean total variation distance over all pairs.
        sample: how many rows drawn at random are as far off, to two digits.
        says: whether that is less than what attributes usually have to do with each other.
    """

    error: float
    sample: str
    says: bool


def likely_pairs(maker: RecordMaker, users: int) -> LikelyPairs | None:
    """Return what is likely of so many records; None where not all pairs are measured, and nobody knows.

    Error: see `mechanisms.microdata.expected_pairs`.
    """
    method = maker.synthesizer
    if not isinstance(method, Graphical) or method.choices or users < 1:
        return None
    error = expected_pairs.expected_error(method, users)
    sample = expected_pairs.equivalent_sample(method, error)
    return LikelyPairs(
        error=error, sample=f"{max(float(f'{sample:.2g}'), 1):,.0f}", says=error < shared_loss.DEPENDENCE
    )
