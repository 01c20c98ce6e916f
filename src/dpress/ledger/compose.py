"""Composition of many losses on one table: pure functions of exact rationals, no state.

Charges (loss, partition) -> cost of each in the limit's terms -> worst sum over the parts one unit can touch.

A limit is a *privacy filter*: the analyst may choose the next loss after seeing earlier answers. Every price here is
therefore a plain sum against thresholds fixed by the limit alone, which stays valid under such choices:
epsilon sums (Rogers et al. 2016), rho sums (Feldman and Zrnic 2021; Whitehouse et al. 2023, Theorem 1).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics import check
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.any_loss import describe, parameters
from dpress.core.basics.losses.loss import Amounts, Loss

DIVISION = ": "  # between the name of a division of the table and that of a part


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One loss, and the part of the table it looks at (None: all of it).

    Args:
        loss: what it costs.
        partition: the part, to which rows belong by what each of them holds.
        touched: how many parts one unit can be in. Left out, a row is in one, and a person in any number: each of
            several releases keeps rows of a person by itself, so that the cap of one bounds no other.
    """

    loss: Loss
    partition: str | None = None
    touched: int | None = None

    def __post_init__(self) -> None:
        if self.partition == "":
            raise ValueError("partition must name a part of the table, or be None for all of it; got an empty name")


def cost(loss: Loss, limit: Loss) -> Amounts:
    """Return what one loss adds to the account of a limit.

    epsilon: epsilon adds up. rho: rho adds up, epsilon counts epsilon^2 / 2.
    (epsilon, delta): both add up; rho counts alpha rho, at the order alpha that `zcdp_for` uses for the limit.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> from dpress.core.basics.losses.zcdp import ZCDP
    >>> cost(PureDP(epsilon=0.1), ZCDP(rho=1))
    {'rho': Fraction(1, 200)}

    Raises:
        ValueError: a limit of this kind cannot pay for such a loss.
    """
    if (amounts := limit.price(loss)) is None:
        raise ValueError(f"a limit of {describe(limit)} pays only for losses in {limit.pays}, got {describe(loss)}")
    return amounts


def total(charges: Sequence[Charge], limit: Loss, unit: Unit) -> Amounts:
    """Return the price of all charges together, in the limit's terms.

    Sequential: costs add up, whatever was chosen adaptively (basic composition).
    Parallel: charges with a partition look at disjoint parts of one division of the table (parts of another
    division are charged without). Only the parts that one unit can touch count, at worst the dearest ones:
    1 under add-remove; 2 under replace-one, since a replaced row may leave one part and enter another; times
    `unit.rows` for a person, whose rows may lie in as many parts, or what the charges state (the most of them). Parts
    of different divisions, named before ": ", may overlap, so their prices add up. A loss is meant for neighbours of
    the whole table.
    An (epsilon, delta) limit that pays for rho also pays `entry(alpha, delta)` once: the fixed part of the
    conversion, which takes the whole delta. So it cannot also hold (epsilon, delta) losses: a choice between the two
    after seeing an answer would cost up to 2 delta.

    Paper: foundations.md; McSherry 2009, Theorem 4 (parallel); Canonne, Kamath and Steinke 2020, Proposition 12.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> total([Charge(loss=PureDP(epsilon=0.1))] * 10, PureDP(epsilon=1), Unit())
    {'epsilon': Fraction(1, 1)}

    Raises:
        ValueError: the limit cannot pay for one of the losses.
    """
    fixed = limit.fixed([charge.loss for charge in charges])
    costs = [(charge, cost(charge.loss, limit)) for charge in charges]
    return {
        name: value + _worst([(charge, amounts[name]) for charge, amounts in costs], unit)
        for name, value in fixed.items()
    }


def touched(unit: Unit, parts: int) -> int:
    """Return how many disjoint parts of the table one unit can touch, that is in `parts` of them at once.

    >>> touched(Unit(relation=Relation.REPLACE_ONE), 1)
    2
    """
    return parts * (2 if unit.relation is Relation.REPLACE_ONE else 1)


def fits(amounts: Amounts, limit: Loss) -> bool:
    """Say whether the amounts are within the limit, exactly.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> fits({"epsilon": Fraction(1)}, PureDP(epsilon=1))
    True
    """
    return all(amounts[name] <= value for name, value in parameters(limit).items())


def group(loss: Loss, size: int) -> Loss:
    """Return the loss between tables that differ in `size` units.

    size epsilon; size^2 rho; (size epsilon, delta sum over i < size of exp(i epsilon)), the sum rounded up.
    Paper: foundations.md, Theorem 7; Bun and Steinke 2016, Proposition 1.9; Vadhan 2017, Lemma 2.2 (its proof).

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> group(PureDP(epsilon=0.1), 3)
    PureDP(epsilon=Fraction(3, 10))

    Raises:
        ValueError: the result is no loss any more, e.g. delta would reach 1.
    """
    check.count("size", size)
    return loss.group(size)


def _worst(costs: Sequence[tuple[Charge, Fraction]], unit: Unit) -> Fraction:
    """Return the sequential costs plus those of the dearest parts of every division that one unit can touch."""
    dearest, parts = Fraction(0), dict[str, int]()
    sums: dict[str, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for charge, value in costs:
        most = charge.touched or (1 if unit.column is None else None)
        if charge.partition is None or most is None:
            dearest += value
        else:
            division = charge.partition.rpartition(DIVISION)[0]
            sums[division][charge.partition] += value
            parts[division] = max(parts.get(division, 0), touched(unit, most))
    return dearest + sum(
        (sum(sorted(costs.values(), reverse=True)[: parts[name]]) for name, costs in sums.items()), Fraction(0)
    )
