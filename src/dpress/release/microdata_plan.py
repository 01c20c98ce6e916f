"""Which records to make: by which method, with which parameters, and how much its noise will add to their error."""

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from dpress import catalog
from dpress.core.attribute import Tabular
from dpress.core.claim import ZCDP, Claim, PureDP
from dpress.core.errors import NotSupported
from dpress.core.mechanism import Card, Synthesizer
from dpress.core.mixed import Column, columns
from dpress.core.people import Codes, Counts, People
from dpress.data.spec import Spec
from dpress.release.local_plan import expected_users

UNIT = "noise SSE, scaled units"
PROVEN = ("dp_prototypes", "graphical")  # what is tried where the spec names no method
PUBLIC = ("columns", "loss", "unit")  # fields of every method, which the spec gives
PLACE = "$.release.parameters"
ORDER = (
    f'{PLACE}.rows: a release in the order of the table\'s rows, got "aligned": row i would be about person i, and no '
    'noise hides whose it is; records are shuffled: "mixture" or "representative"'
)


@runtime_checkable
class Priced(Protocol):
    """A method that says what its noise adds to the records' error."""

    def noise_sse(self, users: float) -> float:
        """Return the squared error that noise adds to the numbers of so many records, on the scale of the bounds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NoTables:
    """What stands for a decoder where records answer, not tables.

    Args:
        shape: the number of cells of every attribute.
    """

    shape: tuple[int, ...]
    tables: ClassVar[tuple[tuple[int, ...], ...]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordMaker:
    """One method over the columns of a spec, within the budget.

    Args:
        columns: of the records.
        synthesizer: makes them.
        loss: that it was made for.
    """

    columns: tuple[Column, ...]
    synthesizer: Synthesizer
    loss: PureDP | ZCDP

    @property
    def claim(self) -> Claim:
        """The promise of the method."""
        return self.synthesizer.claim

    @property
    def decoder(self) -> Any:
        """No tables: queries are answered by counting records."""
        return NoTables(shape=tuple(column.size for column in self.columns))

    @property
    def tail(self) -> Any:
        """How heavy the noise's tail is."""
        return "laplace" if isinstance(self.loss, PureDP) else "gaussian"

    @property
    def parameters(self) -> dict[str, Any]:
        """What the method was made with, beside what the spec gives: k, T, ..."""
        made: Any = self.synthesizer
        return {one.name: getattr(made, one.name) for one in fields(made) if one.name not in PUBLIC}

    def noise_sse(self, users: int) -> float:
        """Return the squared error that noise adds to the numbers of so many records; infinite without a formula."""
        return self.synthesizer.noise_sse(users) if isinstance(self.synthesizer, Priced) else math.inf

    def check(self, people: People) -> None:
        """Refuse a table with fewer rows than a method without a proof needs; one with a proof must not look.

        Raises:
            NotSupported: there are too few.
        """
        needed = max((value for name, value in self.parameters.items() if name in ("clusters", "group")), default=1)
        if self.claim.proven is None and people.fold(_rows)[0] < needed:
            raise NotSupported(f"the table has fewer than {needed} rows, one for every cluster or group")


def mixed(spec: Spec) -> tuple[Column, ...]:
    """Return the columns of a spec's records, with the weights that it names.

    Raises:
        NotSupported: an attribute is a location, or a number that may be missing.
        ValueError: the weights are wrong, or tables are to be adjusted, which there are none of.
    """
    if spec.privacy.model == "local":
        raise NotSupported('$.privacy.model: kind = "microdata" needs a table: model = "central"')
    if spec.release.postprocess:
        raise ValueError('$.release.postprocess: kind = "microdata" has no tables to adjust')
    attributes: Sequence[Tabular] = spec.schema.tabular
    given = spec.release.parameters.get("weights", [1.0] * len(attributes))
    numbers = isinstance(given, list) and all(type(one) in (int, float) and 0 <= one < math.inf for one in given)
    if not numbers or len(given) != len(attributes) or not any(given):
        raise ValueError(
            f"{PLACE}.weights: expected {len(attributes)} numbers >= 0, one for every attribute, got {given!r}"
        )
    return columns(attributes, [float(one) for one in given])


def record_makers(spec: Spec, losses: Sequence[PureDP | ZCDP]) -> Iterator[tuple[str, RecordMaker]]:
    """Yield by method every way to make the records of a spec, within the losses that the budget pays for.

    Raises:
        NotSupported: no method makes records with these attributes, parameters and losses.
        ValueError: a parameter is wrong.
    """
    own, made, refused = mixed(spec), 0, list[NotSupported]()
    named = spec.release.method != "auto"
    for card in _cards(spec):
        parameters = _own(spec, card)
        for loss in losses:
            try:
                synthesizer = _made(card, own, loss, spec, parameters)
            except NotSupported as error:
                refused.append(error)
                continue
            if synthesizer is not None:
                made += 1
                yield card.name, RecordMaker(columns=own, synthesizer=synthesizer, loss=loss)
    if refused and not made:
        raise refused[0]
    if not made:
        what = spec.release.method if named else "no method"
        raise NotSupported(f"$.release.method: {what} does not serve these attributes under this budget")


def remade(spec: Spec, method: str, loss: PureDP | ZCDP, parameters: Mapping[str, Any]) -> RecordMaker:
    """Return what made the records of a release: the plan of another version might choose another one.

    Raises:
        NotSupported, TypeError, ValueError: no such method, or it does not take these parameters.
    """
    own = mixed(spec)
    made = catalog.card(method).method(columns=own, loss=loss, unit=spec.privacy.protected, **parameters)
    return RecordMaker(columns=own, synthesizer=made, loss=loss)


def _cards(spec: Spec) -> list[Card]:
    """Return the method that the spec names; left to us, those with a proof that take its parameters."""
    makers = {name: card for name, card in catalog.cards().items() if card.synthesizer is not None}
    _check_parameters(spec, makers)
    if spec.release.method != "auto":
        if spec.release.method not in makers:
            raise NotSupported(
                f"$.release.method: {spec.release.method!r} makes no records; those that do: {', '.join(makers)}"
            )
        return [makers[spec.release.method]]
    asked = set(spec.release.parameters) - {"users", "weights"}
    return [makers[name] for name in PROVEN if name in makers and asked <= set(makers[name].parameters)]


def _check_parameters(spec: Spec, makers: Mapping[str, Card]) -> None:
    given, method = spec.release.parameters, spec.release.method
    if given.get("rows") == "aligned":
        raise NotSupported(ORDER)
    names = PROVEN if method == "auto" else (method,)
    known = sorted({"users", "weights", *(one for name in names if name in makers for one in makers[name].parameters)})
    if unknown := sorted(set(given) - set(known)):
        what = "" if method == "auto" else f" for {method}"
        raise ValueError(f"{PLACE}: unknown parameter {unknown[0]!r}{what}; known: {', '.join(known)}")
    alike = given.get("rows") == "representative" or method == "dp_k_prototypes"
    if given.get("clusters") == 1 and alike:
        raise ValueError(f"{PLACE}.clusters: expected at least 2, got 1: all records would be about the same")
    clusters, group = given.get("clusters"), given.get("group")
    for name, value in (("clusters", clusters), ("group", group)):
        if type(value) is int and "users" in given and value > expected_users(spec):
            raise ValueError(f"{PLACE}.{name}: expected at most `users`, {expected_users(spec)}, got {value}")


def _own(spec: Spec, card: Card) -> dict[str, Any]:
    """Return the arguments that a method takes, as the spec has them, and the number of people where it may have one.

    Raises:
        ValueError: one is missing.
    """
    given = {name: value for name, value in spec.release.parameters.items() if name in card.parameters}
    if "users" in given:
        expected_users(spec)
    assert card.synthesizer is not None  # noqa: S101  # of one that makes records
    for name, argument in inspect.signature(card.synthesizer).parameters.items():
        if argument.kind is argument.KEYWORD_ONLY and name not in given:
            if argument.default is argument.empty:
                raise ValueError(f"{PLACE}.{name}: {card.name} needs it")
            if name == "users":
                given[name] = expected_users(spec)
    return given


def _made(
    card: Card, own: tuple[Column, ...], loss: PureDP | ZCDP, spec: Spec, parameters: Mapping[str, Any]
) -> Synthesizer | None:
    assert card.synthesizer is not None  # noqa: S101  # of one that makes records
    try:
        return card.synthesizer(own, loss, spec.privacy.protected, **parameters)
    except NotSupported:
        raise
    except ValueError as error:
        raise ValueError(str(error) if str(error).startswith("$") else f"{PLACE}: {error}") from None


def _rows(codes: Codes) -> Counts:
    return np.array([codes.shape[1]], dtype=np.int64)
