"""What is measured of groups once a first step has found what was not known of them."""

from dataclasses import dataclass
from typing import Any

from dpress.core.basics.claim import Claim, Unit
from dpress.core.maps.linear import Numbers
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.table_sums import Rows
from dpress.inference.interval import Tail
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondStep:
    """The second of two steps under one claim, which acts as any other measurement of groups.

    Args:
        groups: what is measured.
    """

    groups: MatrixMechanism

    @property
    def unit(self) -> Unit:
        """Whom the promise protects, in both steps."""
        return self.groups.unit

    @property
    def claim(self) -> Claim:
        """The promise of both steps together."""
        raise NotImplementedError

    @property
    def tail(self) -> Tail:
        """How heavy the tail of the groups' noise is."""
        return self.groups.tail

    @property
    def noises(self) -> Any:
        """The noise of every part of it."""
        return self.groups.noises

    @property
    def decoder(self) -> Any:
        """What is summed over the rows."""
        return self.groups.decoder

    def numbers_held(self, rows: int) -> int:
        """Return how many numbers are in memory: those of the groups that are known."""
        return self.groups.numbers_held(rows)

    def counted(self, rows: Rows) -> Numbers:
        """Return the groups' answers without noise, private as the rows are."""
        return self.groups.counted(rows)

    def measured(self, answers: Numbers) -> Measurement:
        """Return the measurement of the groups that has these noisy answers."""
        return self.groups.measured(answers)
