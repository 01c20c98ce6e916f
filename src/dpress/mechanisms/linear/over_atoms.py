"""A strategy whose cells are the atoms of a list of predicates: how rows become cells, and what is measured."""

from dataclasses import dataclass
from fractions import Fraction

from dpress.core.maps.atoms import Atoms
from dpress.core.maps.linear import LinearMap, Numbers
from dpress.core.methods.mechanism import Decoder, Strategy
from dpress.core.methods.table_sums import Rows, Sums
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism


@dataclass(frozen=True, slots=True)
class OverAtoms:
    """Another strategy, over atoms.

    Promise: every row is in exactly one atom, so that the promise is the strategy's; see `MatrixMechanism`.
    Error: the strategy's.

    Args:
        atoms: how rows become cells.
        strategy: over as many cells as there are atoms.
    """

    atoms: Atoms
    strategy: Strategy

    def __post_init__(self) -> None:
        if self.strategy.map.cells != self.atoms.size:
            raise ValueError(f"the strategy is over {self.strategy.map.cells} cells, and there are {self.atoms.size}")

    @property
    def map(self) -> LinearMap:
        """What is measured."""
        return self.strategy.map

    @property
    def decoder(self) -> Decoder:
        """How sums of atoms are answered."""
        return self.strategy.decoder

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The shares of the map's parts."""
        return self.strategy.shares

    def counted(self, rows: Rows) -> Numbers:
        """Return the counts of the atoms."""
        return rows.sums(Sums(of_rows=self.atoms.counts, shape=self.atoms.shape))


def atoms_of(mechanism: object) -> Atoms | None:
    """Return the atoms that a mechanism takes the counts of; None where it takes those of tables."""
    strategy = mechanism.strategy if isinstance(mechanism, MatrixMechanism) else None
    return strategy.atoms if isinstance(strategy, OverAtoms) else None
