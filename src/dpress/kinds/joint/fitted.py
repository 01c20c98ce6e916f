"""The fitted joint distribution of a release: its table of all cells, and the words that go with its answers.

Data flow: joint, refits -> counts of every cell with standard error and interval -> one batch.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.core.basics.rng import seeded
from dpress.core.maps.linear import Array, Numbers
from dpress.inference.joint.bootstrap import Refits
from dpress.inference.joint.factors import Joint
from dpress.mechanisms.joint.pairs import Pairs
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.protocol.collection import as_collection, method_of
from dpress.query.measured_joint import MeasuredJoint
from dpress.query.published_tables import CONFIDENCE, cells

NAME = "joint.parquet"
MOST_CELLS = 1 << 13
SEED = 0
"""Of the refits: they are drawn from what is published, so nothing private is drawn, and readers get equal errors."""
COLLECTED, ADDED = "the noise of collection", "the noise that was added"
ASKED = {1: "single attributes", 2: "pairs of attributes", 3: "triples of attributes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedTable:
    """The fitted joint, a row for every combination of values.

    Args:
        axes: the attributes.
        refits: of the joint.
        users: that the shares are of; of a table, the estimated rows.
        spread: the variance of that number, in counts squared; 0 where it is known.
    """

    axes: tuple[Tabular, ...]
    refits: Refits
    users: float
    spread: float = 0.0
    name: str = NAME

    @property
    def count(self) -> Array:
        """The fitted counts, shape of the axes."""
        return self.refits.joint.marginal(tuple(range(len(self.axes)))) * self.users

    @property
    def error(self) -> Array:
        """Their standard errors, in counts."""
        every = tuple(range(len(self.axes)))
        shares = self.refits.joint.marginal(every)
        return np.sqrt((self.refits.errors(every) * self.users) ** 2 + shares**2 * self.spread)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows: the attributes' cells, the fitted count, its standard error, the ends of its 95 % interval.

        All errors are by bootstrap; see `inference.joint.bootstrap`.
        """
        count, error = self.count.ravel(), self.error.ravel()
        half = self.refits.half_width(error**2, CONFIDENCE)
        yield pa.record_batch(
            {
                **cells(self.axes, 0, count.size),
                "fitted": count,
                "standard_error": error,
                "low": count - half,
                "high": count + half,
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JointRows:
    """The fitted joint as rows that are made when they are asked for, because refits take a while.

    Args:
        axes: the attributes.
        joint: that was fitted.
        users: that the shares are of.
        tabled: returns the table with its errors; None where the joint is not refitted.
    """

    axes: tuple[Tabular, ...]
    joint: Joint
    users: float
    tabled: Callable[[], FittedTable | None]
    name: str = NAME

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows: those of `FittedTable`, or the attributes' cells and the fitted count alone."""
        if (table := self.tabled()) is not None:
            yield from table.batches()
            return
        count = self.joint.marginal(tuple(range(len(self.axes)))).ravel() * self.users
        yield pa.record_batch({**cells(self.axes, 0, count.size), "fitted": count})


def pairs_of(mechanism: object) -> Pairs | None:
    """Return the estimator of a joint that is fitted to tallies alone, None for any other mechanism."""
    estimator = method_of(mechanism)
    return estimator if isinstance(estimator, Pairs) else None


def tabled(mechanism: object, shape: tuple[int, ...]) -> bool:
    """Return whether the fitted joint gets a file: it can be refitted, is small, and is not published already."""
    estimator = pairs_of(mechanism)
    if isinstance(mechanism, MatrixMechanism):
        tables = mechanism.decoder.tables
    else:
        tables = () if estimator is None else estimator.tables
    return bool(tables) and math.prod(shape) <= MOST_CELLS and not any(len(axes) == len(shape) for axes in tables)


def refits(
    mechanism: object,
    joint: Joint | None,
    kept: Numbers | None,
    progress: Callable[[int], object] | None,
    evidence: MeasuredJoint | None,
) -> Refits | None:
    """Return the joints that would have been fitted; None without a joint, or where the tallies do not give it."""
    if evidence is not None and joint is not None:
        return evidence.refits(joint, progress=progress)
    estimator, collection = pairs_of(mechanism), as_collection(mechanism)
    if estimator is None or collection is None or joint is None or kept is None:
        return None
    return estimator.refits(collection.split_tally(kept), joint, rng=seeded(SEED), progress=progress)


def caveat(ways: int, attributes: int, noise: str = COLLECTED) -> str:
    """Return what to know of an answer from a joint that was fitted to tables of so many attributes each."""
    if ways >= attributes and noise == ADDED:
        return f"This comes from the fitted joint distribution: the interval covers {noise}, not counts cut off at 0."
    if ways >= attributes:
        return (
            "This comes from the fitted joint distribution, which is shrunk toward what smaller tables make expected: "
            f"the interval covers {noise}."
        )
    tables = ASKED.get(ways, f"sets of {ways} attributes")
    return f"This comes from the fitted joint distribution: the interval covers {noise}, not what {tables} cannot see."
