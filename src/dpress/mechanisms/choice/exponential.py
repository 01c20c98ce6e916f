"""`exponential`: choose one of a public list of candidates, the better the likelier."""

from dataclasses import dataclass

from dpress.core.basics import check
from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array, Numbers
from dpress.core.methods.mechanism import Card
from dpress.noise import choose


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential:
    """The exponential mechanism: P(i) is proportional to exp(epsilon u_i / (2 D)).

    Promise: pure epsilon, D the largest change of any score for one row, times the unit's rows. Proven.
    Error: with probability 1 - beta the chosen score is within 2 D ln(candidates / beta) / epsilon of the best.
    Paper: McSherry and Talwar 2007, Theorem 6.

    Args:
        loss: epsilon.
        unit: whom the promise protects.
        sensitivity: D for one row under the unit's relation, an integer as the scores are.
    """

    loss: PureDP
    unit: Unit = ROW
    sensitivity: int = 1

    def __post_init__(self) -> None:
        pure(self.loss, f"the exponential mechanism is calibrated to epsilon, got {describe(self.loss)}")
        check.count("sensitivity", self.sensitivity)

    @property
    def unit_sensitivity(self) -> int:
        """The largest change of a score when all rows of one unit change: what the sampler divides by."""
        return self.sensitivity * self.unit.rows

    @property
    def claim(self) -> Claim:
        """The promise, for the weights exp(epsilon score / (2 unit_sensitivity)) that the sampler uses."""
        basis = f"exponential mechanism against score sensitivity {self.unit_sensitivity}"
        return Claim(published=self.loss, proven=self.loss, unit=self.unit, basis=basis)

    def probabilities(self, scores: Numbers) -> Array:
        """Return the exact distribution of the choice, shape (candidates,), rounded to floats."""
        return choose.exponential_probabilities(scores, epsilon=self.loss.epsilon, sensitivity=self.unit_sensitivity)

    def choose(self, scores: Numbers, *, rng: Generator) -> int:
        """Return the index of one candidate.

        Args:
            scores: exact integers, shape (candidates,).
            rng: a secure generator.
        """
        return choose.exponential(scores, epsilon=self.loss.epsilon, sensitivity=self.unit_sensitivity, rng=rng)


CARD = Card(
    name="exponential",
    family="choice",
    model="central",
    paper="foundations: choices (McSherry, Talwar 2007)",
    summary="Chooses one of a public list of candidates by a score.",
    method=Exponential,
    example=lambda loss, unit: Exponential(loss=loss, unit=unit),
)
