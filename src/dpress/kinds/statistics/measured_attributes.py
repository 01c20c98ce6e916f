"""Which attributes have which statistics: what a table's statistics and those of devices have in common."""

from collections.abc import Collection, Sequence
from fractions import Fraction

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Number
from dpress.core.basics.near import meant
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.workload import Marginals
from dpress.kinds.statistics.kind import CollectedStatistics, Statistics
from dpress.release.plan.candidate import Candidate, Choice

Quantiles = dict[str, tuple[Fraction, ...]]

LARGEST = 1e60  # number: variances of sums of squares are below 10^240 times the square of the rows, which floats hold


def measured(
    schema: Schema, terms: Statistics | CollectedStatistics, by: tuple[str, ...]
) -> tuple[dict[str, int], Quantiles]:
    """Return the highest moment of every attribute that has one, and the quantiles of those that have some, rising.

    Raises:
        ValueError: an attribute is missing, no number or used twice, or a quantile is none.
    """
    degrees: dict[str, int] = {}
    for place, names, degree in (("mean", terms.mean, 1), ("sum", terms.sum, 1), ("variance", terms.variance, 2)):
        for name in names or ():
            check_measured(schema, name, by, f"{PLACE}.{place}")
            degrees[name] = max(degree, degrees.get(name, 0))
    quantiles: dict[str, set[Fraction]] = {name: {Fraction(1, 2)} for name in terms.median or ()}
    for name, shares in (terms.quantiles or {}).items():
        if not shares or not all(0 < share < 1 for share in shares):
            raise ValueError(
                f"{PLACE}.quantiles.{name}: expected numbers strictly between 0 and 1, got {_listed(shares)}"
            )
        quantiles.setdefault(name, set()).update(shares)
    for name in quantiles:
        check_measured(schema, name, by, f"{PLACE}.{'median' if name in (terms.median or ()) else 'quantiles'}")
    return degrees, {name: tuple(sorted(shares)) for name, shares in quantiles.items()}


def check_groups(schema: Schema, by: tuple[str, ...]) -> None:
    """Refuse groups of an attribute that there is not, or that stands there twice.

    Raises:
        ValueError: so it is.
    """
    for number, name in enumerate(by, 1):
        attribute_named(schema, name, f"{PLACE}.by[#{number}]")
        if by.index(name) < number - 1:
            raise ValueError(f"{PLACE}.by[#{number}]: {name} stands there twice")


def check_used(schema: Schema, used: Collection[str], terms: str) -> None:
    """Refuse an attribute that nothing is about, with the parameters that could name it.

    Raises:
        ValueError: so it is.
    """
    for name in schema.names:
        if name not in used:
            raise ValueError(
                f"$.release.attributes: {name!r} neither makes groups nor is measured; name it in {PLACE} ({terms}) or "
                "leave it out"
            )


def check_measured(schema: Schema, name: str, by: tuple[str, ...], place: str) -> Number:
    """Return an attribute that is measured, which must be a number and make no groups.

    Raises:
        ValueError: so it is.
    """
    attribute = attribute_named(schema, name, place)
    if (numbers := attribute.numbers) is None:
        kind = type(attribute).__name__.lower()
        raise ValueError(f"{place}: {name} is {kind}; expected an integer or numeric attribute")
    if numbers.ordered < 2:
        raise ValueError(f"{place}: {name} has one cell alone; there is nothing to measure")
    if (largest := max(map(abs, numbers.ends))) > LARGEST:
        raise ValueError(
            f"{place}: expected bounds of {name} within +-{LARGEST:g}, beyond which no variance of a sum of squares is "
            f"a finite number; got {largest:g}"
        )
    if name in by:
        raise ValueError(f"{place}: {name} is in `by`, too; an attribute either makes groups or is measured")
    return numbers


def attribute_named(schema: Schema, name: str, place: str) -> Tabular:
    """Return an attribute by its name.

    Raises:
        ValueError: there is none.
    """
    try:
        return next(attribute for attribute in schema.tabular if attribute.name == name)
    except StopIteration:
        names = schema.names
        raise ValueError(
            f"{place}: there is no attribute {name!r}; the attributes are {', '.join(names)}{meant(name, names)}"
        ) from None


def _listed(shares: list[Fraction]) -> str:
    return f"[{', '.join(f'{float(share):g}' for share in shares)}]"


def chosen_of(
    candidates: tuple[Candidate, ...], schema: Schema, axes: Sequence[str], *, users: int, unit: str
) -> Choice:
    """Return a choice of which the first candidate acts, over one table of some attributes."""
    return Choice(
        workload=Marginals(schema.shape, (schema.axes(axes),)),
        schema=schema,
        candidates=candidates,
        chosen=candidates[0],
        lower_bound=0.0,
        users=users,
        unit=unit,
        attributes=schema.attributes,
    )
