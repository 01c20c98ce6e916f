"""Which records to make: by which method, with which parameters, and how much its noise will add to their error."""

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpress import catalog
from dpress.core.attribute import Tabular
from dpress.core.claim import ZCDP, PureDP
from dpress.core.errors import NotSupported
from dpress.core.mechanism import Card, Synthesizer
from dpress.core.mixed import Column, columns
from dpress.core.workload import Marginals
from dpress.data.spec import Spec
from dpress.mechanisms.microdata.record_maker import RecordMaker
from dpress.release.candidate import Candidate, Choice, rank
from dpress.release.collections import expected_users
from dpress.release.strategies import affordable

UNIT = "noise SSE, scaled units"
PROVEN = ("dp_prototypes", "graphical")  # what is tried where the spec names no method
PLACE = "$.release.parameters"
ORDER = (
    f'{PLACE}.rows: a release in the order of the table\'s rows, got "aligned": row i would be about person i, and no '
    'noise hides whose it is; records are shuffled: "mixture" or "representative"'
)


def choose(spec: Spec) -> Choice:
    """Return every method that makes records, under the noise that suits it best, least noise first.

    Raises:
        NotSupported: no method serves the specification.
        ValueError: a parameter is wrong.
    """
    users, best = expected_users(spec), dict[str, Candidate]()
    for method, maker in record_makers(spec, affordable(spec)):
        own = Candidate(method=method, mechanism=maker, predicted_error=maker.noise_sse(users))
        best[method] = min(own, best.get(method, own), key=rank)  # the last of equals: rho suits many answers
    candidates, schema = tuple(sorted(best.values(), key=rank)), spec.schema
    return Choice(
        workload=Marginals(schema.shape, tuple((axis,) for axis in range(len(schema.shape)))),
        schema=schema,
        candidates=candidates,
        chosen=candidates[0],
        lower_bound=0.0,
        users=users,
        unit=UNIT,
    )


def weights(spec: Spec) -> tuple[float, ...]:
    """Return the weights of a spec's attributes in the distance of two records.

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
    return tuple(float(one) for one in given)


def record_makers(spec: Spec, losses: Sequence[PureDP | ZCDP]) -> Iterator[tuple[str, RecordMaker]]:
    """Yield by method every way to make the records of a spec, within the losses that the budget pays for.

    Raises:
        NotSupported: no method makes records with these attributes, parameters and losses.
        ValueError: a parameter is wrong.
    """
    each, made, refused = weights(spec), 0, list[NotSupported]()
    own = columns(spec.schema.tabular, each)
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
                yield card.name, RecordMaker(attributes=spec.schema.tabular, weights=each, synthesizer=synthesizer)
    if refused and not made:
        raise refused[0]
    if not made:
        what = spec.release.method if named else "no method"
        raise NotSupported(f"$.release.method: {what} does not serve these attributes under this budget")


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
