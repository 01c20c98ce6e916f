"""Composition of many losses on one table: pure functions of exact rationals, no state.

Charges (loss, partition) -> cost of each in the limit's terms -> worst sum over the parts one unit can touch.

A limit is a *privacy filter*: the analyst may choose the next loss after seeing earlier answers. Every price here is
therefore a plain sum against thresholds fixed by the limit, and what was charged before the first loss that needs a
delta, alone, which stays valid under such choices: epsilon sums (Rogers et al. 2016), rho sums (Feldman and Zrnic 2021;
Whitehouse et al. 2023, Theorem 1), mu^2 sums (Smith and Thakurta 2022). Proof:
docs/explanations/proofs/gaussian-noise.md, "A limit in epsilon and delta".
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics import check
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.any_loss import describe, parameters
from dpress.core.basics.losses.loss import Amounts, Loss
from dpress.ledger.delta_account import ways

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

    epsilon: epsilon adds up. rho: rho adds up, epsilon counts epsilon^2 / 2, mu^2 half. mu2: mu^2 adds up, epsilon
    counts pi epsilon^2 / 2.
    (epsilon, delta): both add up; rho counts alpha rho, at the order alpha that `zcdp_for` uses for the limit; mu^2 as
    half as much rho, where rho came before it: `totals` prices it where it comes first.

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


def total(
    charges: Sequence[Charge], limit: Loss, unit: Unit, counted: Callable[[int], bool] = lambda _: True
) -> Amounts:
    """Return the price of all charges together, in the limit's terms; the last of `totals`, or nothing.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> total([Charge(loss=PureDP(epsilon=0.1))] * 10, PureDP(epsilon=1), Unit())
    {'epsilon': Fraction(1, 1)}

    Raises:
        ValueError: the limit cannot pay for one of the losses.
    """
    every = totals(charges, limit, unit, counted)
    return (deque(every, maxlen=1) or [dict.fromkeys(limit.names, Fraction(0))])[0]


def totals(
    charges: Sequence[Charge], limit: Loss, unit: Unit, counted: Callable[[int], bool] = lambda _: True
) -> Iterator[Amounts]:
    """Yield the price of all charges together, in the limit's terms, after each of them.

    Sequential: costs add up, whatever was chosen adaptively (basic composition).
    Parallel: charges with a partition look at disjoint parts of one division of the table (parts of another
    division are charged without). Only the parts that one unit can touch count, at worst the dearest ones:
    1 under add-remove; 2 under replace-one, since a replaced row may leave one part and enter another; times as many
    as the charges state for a person (the most of them), whose charges all add up where one states none. Parts of
    different divisions, named before ": ", may overlap, so their prices add up. A loss is meant for neighbours of
    the whole table.
    Under (epsilon, delta) the first loss that needs a delta decides. Is it Gaussian, what was charged before it counts
    in full, and the rest pays in the cheaper of two ways: see `delta_account`. Is it in rho, the limit also pays
    `entry(alpha, delta)` once: the fixed part of the conversion, which takes the whole delta. From then on neither can
    hold losses in (epsilon, delta): a choice between them after seeing an answer would cost up to 2 delta.

    Args:
        charges: in their order.
        limit: of all of them.
        unit: whom it protects.
        counted: whether one is added up, by its place; at the price that it has among all of them.

    Paper: foundations.md; McSherry 2009, Theorem 4 (parallel); Canonne, Kamath and Steinke 2020, Proposition 12.

    Raises:
        ValueError: the limit cannot pay for one of the losses.
    """
    turn = _turn(charges, limit)
    losses, before, first = list[Loss](), _Tallies(limit.names, unit), _Tallies(limit.names, unit)
    for place, charge in enumerate(charges[:turn]):
        amounts = cost(charge.loss, limit)
        before.add(charge, amounts)
        if counted(place):
            losses.append(charge.loss)
            first.add(charge, amounts)
        fixed = limit.fixed(losses)
        yield {name: value + first.worst[name] for name, value in fixed.items()}
    if turn == len(charges):
        return
    spent = before.worst
    left = {name: max(value - spent[name], Fraction(0)) for name, value in parameters(limit).items()}
    for later in _later(charges[turn:], limit, left, unit, lambda place: counted(turn + place)):
        yield {name: value + later[name] for name, value in first.worst.items()}


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


def _turn(charges: Sequence[Charge], limit: Loss) -> int:
    """Return how many charges stand before the one from which on mu^2 adds up; all where there is none."""
    first = next((place for place, charge in enumerate(charges) if charge.loss.needs_delta), len(charges))
    gaussian = bool(limit.delta) and first < len(charges) and charges[first].loss.as_mu2 is not None
    return first if gaussian else len(charges)


def _later(
    charges: Sequence[Charge], limit: Loss, left: Amounts, unit: Unit, counted: Callable[[int], bool]
) -> Iterator[Amounts]:
    """Yield what charges from the first Gaussian one on take of what is left, in the cheapest way, after each."""
    any_counted = False
    tallies = {way: _Tally(unit) for way in ways(left["epsilon"], left["delta"], charges[0].loss.as_mu2 or Fraction(0))}
    for place, charge in enumerate(charges):
        if charge.loss.delta:
            raise ValueError(
                f"a limit of {describe(limit)} pays for losses in epsilon and delta before all that need the delta, "
                f"got {describe(charge.loss)} after one in mu2"
            )
        if counted(place):
            any_counted = True
            for way, tally in [*tallies.items()]:
                if (price := way.price(charge.loss)) is None:
                    del tallies[way]
                else:
                    tally.add(charge, price)
        if any_counted:
            least = min((way.fixed + tally.worst for way, tally in tallies.items()), default=2 * limit.amount)
            yield {"epsilon": least, "delta": left["delta"]}
        else:
            yield dict.fromkeys(limit.names, Fraction(0))


class _Tally:
    """A sum of costs, one after the other: the sequential ones and the dearest parts of every division."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.dearest = Fraction(0)
        self.parts: dict[str, int] = {}
        self.sums: dict[str, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))

    def add(self, charge: Charge, value: Fraction) -> None:
        """Add the cost of one charge."""
        most = charge.touched or (1 if self.unit.column is None else None)
        if charge.partition is None or most is None:
            self.dearest += value
        else:
            division = charge.partition.rpartition(DIVISION)[0]
            self.sums[division][charge.partition] += value
            self.parts[division] = max(self.parts.get(division, 0), touched(self.unit, most))

    @property
    def worst(self) -> Fraction:
        """The sequential costs plus those of the dearest parts of every division that one unit can touch."""
        return self.dearest + sum(
            (sum(sorted(costs.values(), reverse=True)[: self.parts[name]]) for name, costs in self.sums.items()),
            Fraction(0),
        )


class _Tallies:
    """A tally for every parameter of a limit."""

    def __init__(self, names: Sequence[str], unit: Unit) -> None:
        self.each = {name: _Tally(unit) for name in names}

    def add(self, charge: Charge, amounts: Amounts) -> None:
        """Add the costs of one charge."""
        for name, value in amounts.items():
            self.each[name].add(charge, value)

    @property
    def worst(self) -> Amounts:
        """The worst sum of each."""
        return {name: tally.worst for name, tally in self.each.items()}
