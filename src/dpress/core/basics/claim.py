"""What a release promises: the privacy loss, between which neighbours, for which unit, published and proven."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import ClassVar

from dpress.core.basics import check
from dpress.core.basics.errors import NotSupported


class Relation(enum.StrEnum):
    """Which two tables are neighbours.

    `ADD_REMOVE`: one unit is added or removed.
    `REPLACE_ONE`: one unit's data is replaced; the number of units is public.

    >>> Relation("replace-one") is Relation.REPLACE_ONE
    True
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Whom the promise protects: one row, or a person who owns at most `rows` rows.

    Args:
        relation: the neighbour relation.
        column: the column that names the person; None protects a single row.
        rows: the largest number of rows a person keeps (enforced before anything is counted).
        also: further columns that name a person together with the first, as the number within a household does.

    >>> Unit(column="hhid", also=("pid",), rows=3).counted
    'at most 3 rows for each hhid and pid'
    """

    added_later: ClassVar = ("also",)

    relation: Relation = Relation.ADD_REMOVE
    column: str | None = None
    rows: int = 1
    also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation(self.relation))
        check.count("rows_per_unit", self.rows)
        if self.column is None and self.rows != 1:
            raise ValueError(f"rows_per_unit must be 1 when the unit is a row, got rows_per_unit={self.rows}")
        if len({*self.columns}) < len(self.columns) or (self.column is None and self.also):
            raise ValueError(f"a person is named by different columns, got {', '.join(self.columns) or self.also[0]}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that name the person: two rows are of one where all of them are equal; none for a row."""
        return () if self.column is None else (self.column, *self.also)

    @property
    def name(self) -> str:
        """Whom the promise protects, in words: a row, or what names the person."""
        return " and ".join(self.columns) or "row"

    @property
    def counted(self) -> str:
        """What counts are of where a person keeps a bounded number of rows, in words; empty where all are counted."""
        if self.column is None:
            return ""
        return f"at most {self.rows:,} {'row' if self.rows == 1 else 'rows'} for each {self.name}"


ROW = Unit()


@dataclass(frozen=True, slots=True, init=False)
class PureDP:
    """Pure epsilon-differential privacy: P(M(D) in S) <= exp(epsilon) P(M(D') in S).

    Args:
        epsilon: in [1e-9, 1000]; kept as the exact rational its decimal form names.

    >>> PureDP(epsilon=0.1)
    PureDP(epsilon=Fraction(1, 10))
    """

    epsilon: Fraction

    def __init__(self, *, epsilon: check.Number) -> None:
        object.__setattr__(self, "epsilon", check.loss_parameter("epsilon", epsilon))


@dataclass(frozen=True, slots=True, init=False)
class ZCDP:
    """Zero-concentrated differential privacy: D_alpha(M(D) || M(D')) <= rho alpha for every alpha > 1.

    Paper: Bun and Steinke 2016, Definition 1.1 (D_alpha is the Renyi divergence).

    Args:
        rho: in [1e-9, 1000]; kept as an exact rational.

    >>> ZCDP(rho="1/200").rho
    Fraction(1, 200)
    """

    rho: Fraction

    def __init__(self, *, rho: check.Number) -> None:
        object.__setattr__(self, "rho", check.loss_parameter("rho", rho))


@dataclass(frozen=True, slots=True, init=False)
class ApproxDP:
    """Approximate differential privacy: P(M(D) in S) <= exp(epsilon) P(M(D') in S) + delta.

    Args:
        epsilon: in [1e-9, 1000].
        delta: strictly between 0 and 1.

    >>> ApproxDP(epsilon=1, delta=1e-6).delta
    Fraction(1, 1000000)
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, *, epsilon: check.Number, delta: check.Number) -> None:
        object.__setattr__(self, "epsilon", check.loss_parameter("epsilon", epsilon))
        object.__setattr__(self, "delta", check.probability("delta", delta))


Loss = PureDP | ZCDP | ApproxDP
LOSSES: tuple[type[PureDP] | type[ZCDP] | type[ApproxDP], ...] = (PureDP, ZCDP, ApproxDP)


def parameters(loss: Loss) -> dict[str, Fraction]:
    """Return the loss's parameters by name, e.g. `{"epsilon": Fraction(1, 2)}`."""
    return {name: getattr(loss, name) for name in type(loss).__slots__}


def from_parameters(values: Mapping[str, check.Number]) -> Loss:
    """Return the loss that these parameter names describe: epsilon; rho; or epsilon and delta.

    Raises:
        ValueError: the names describe no loss.
    """
    for kind in LOSSES:
        if set(values) == set(kind.__slots__):
            return kind(**values)
    raise ValueError(f"a privacy loss is epsilon, or rho, or epsilon and delta; got {sorted(values) or 'nothing'}")


def composed(losses: Sequence[Loss]) -> Loss:
    """Return the loss of several mechanisms on one table, chosen adaptively: parameters of one kind add up.

    Paper: foundations, basic composition; for zCDP Bun and Steinke 2016, Lemma 1.7.
    """
    kinds = {type(loss) for loss in losses}
    if len(kinds) != 1:
        raise ValueError(f"only losses of one kind add up, got {sorted(kind.__name__ for kind in kinds)}")
    names = next(iter(kinds)).__slots__
    return from_parameters({name: sum((getattr(loss, name) for loss in losses), Fraction(0)) for name in names})


def part_of(loss: Loss, share: Fraction) -> PureDP | ZCDP:
    """Return a share of a loss that noise and choices are calibrated to.

    Raises:
        NotSupported: neither sums nor choices are calibrated to it.
    """
    if not isinstance(loss, (PureDP, ZCDP)):
        raise NotSupported(f"sums and choices are calibrated to epsilon or rho, got {describe(loss)}")
    return PureDP(epsilon=loss.epsilon * share) if isinstance(loss, PureDP) else ZCDP(rho=loss.rho * share)


def as_floats(loss: Loss | None) -> dict[str, float] | None:
    """Return the loss for people and JSON: floats rounded up, None where nothing is claimed."""
    return None if loss is None else {name: check.float_up(value) for name, value in parameters(loss).items()}


def describe(loss: Loss | None) -> str:
    """Return the loss in the field's short notation, e.g. `epsilon = 1` or `rho = 0.5`."""
    return (
        "nothing"
        if loss is None
        else ", ".join(f"{name} = {_shown(value)}" for name, value in parameters(loss).items())
    )


def _shown(value: Fraction) -> str:
    up = Context(prec=6, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{float(up):.6g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The promise of one mechanism on one table.

    Args:
        published: what the method's paper claims; None if it claims nothing of the kind.
        proven: what a proof shows for the code that runs; None without a proof.
        unit: between which neighbours.
        basis: one sentence that says why, naming the numbers that the sampler uses.

    >>> claim = Claim(published=PureDP(epsilon=1), proven=None, unit=ROW, basis="no proof for the code that runs")
    >>> describe(claim.published), describe(claim.proven)
    ('epsilon = 1', 'nothing')
    """

    published: Loss | None
    proven: Loss | None
    unit: Unit
    basis: str
