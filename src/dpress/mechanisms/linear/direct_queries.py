"""`direct_queries`: every query of a list is measured as it is asked, however the queries overlap."""

from dataclasses import dataclass

from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.set_sums import SetSums
from dpress.core.maps.workload import Workload
from dpress.core.methods.mechanism import Card, Strategy
from dpress.inference.least_squares import LeastSquares
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism


@dataclass(frozen=True, slots=True)
class DirectQueries(Strategy):
    """One noisy count for each of several sets of atoms.

    Promise: the L1 sensitivity is the largest number of sets that one atom is in (add-remove), or that tell two atoms
    apart (replace-one), and so is the squared L2 sensitivity; see `core.maps.set_sums` and `MatrixMechanism`.
    Error: coefficient of the sets' own answers: the diagonal of A A^+, 1 where no set is a combination of others and
    below 1 otherwise; the mean over the sets is rank(A) / rows. A query that is no combination has no answer.
    Paper: foundations, k counting queries fixed in advance: sensitivity k there, here what the sets make of it.

    Args:
        cells: the number of atoms.
        sets: the atoms of every query; see `SetSums`.

    >>> from dpress.core.basics.claim import Relation
    >>> DirectQueries(3, ((0, 1), (1, 2))).map.sensitivity(1, Relation.ADD_REMOVE)
    2
    """

    cells: int
    sets: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        _ = self.map  # refuses what are no sets

    @property
    def map(self) -> SetSums:
        """The sets' sums."""
        return SetSums(self.cells, self.sets)

    @property
    def decoder(self) -> LeastSquares:
        """The shortest least-squares estimate of the atoms, whose sums over the sets agree with one another."""
        return LeastSquares(self.map, (self.cells,))


def _strategy(workload: Workload, _loss: Loss) -> DirectQueries | None:
    return None if workload.sums is None else DirectQueries(workload.cells, workload.sums.sets)


CARD = Card(
    name="direct_queries",
    family="linear",
    model="central",
    paper="foundations: counting queries fixed in advance (Dwork, McSherry, Nissim, Smith 2006)",
    summary="One noisy count for every query that was asked: best for few queries, or such as hardly overlap.",
    method=DirectQueries,
    example=lambda loss, unit: MatrixMechanism(
        strategy=DirectQueries(8, ((0, 1, 2, 3), (2, 3, 4), (4, 5), (0, 5, 6))), loss=loss, unit=unit
    ),
    strategy=_strategy,
)
