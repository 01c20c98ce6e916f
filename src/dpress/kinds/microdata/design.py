"""Which records to make: by which method, with which parameters, and how much its noise will add to their error.

No error of records can be predicted before the rows are read (decision 59), so that the order of `PREFERRED` rests on
measurements (decision 73) and not on predictions.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpress import catalog
from dpress.attributes.attribute import Tabular
from dpress.attributes.mixed import Column, columns
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.extras import has_scipy
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import PLACE, names
from dpress.core.maps.workload import Marginals
from dpress.core.methods.mechanism import Card, Synthesizer
from dpress.data.specification.spec import Spec
from dpress.kinds.microdata.kind import Records
from dpress.mechanisms.microdata.record_maker import RecordMaker
from dpress.mechanisms.microdata.record_rules import NONE, Rules
from dpress.release.plan.candidate import Candidate, Choice, rank
from dpress.release.plan.parameter_checks import beside, expected_users, of_kind, of_methods

PUBLISHED = "dp_k_prototypes"
UNIT = "noise SSE, scaled units"
NEAREST = "graphical"
PREFERRED = (NEAREST, "dp_prototypes")  # proven; where the spec names no method, the first that serves it
ORDER = (
    f'{PLACE}.rows: a release in the order of the table\'s rows, got "aligned": row i would be about person i, and no '
    'noise hides whose it is; records are shuffled: "mixture" or "representative"'
)
UNCONDITIONAL = (
    "with these parameters makes records that no constraint holds back: impossible combinations are kept out by "
    '"graphical", and by "dp_prototypes" with rows = "mixture"'
)
INFLUENCE = (
    f'{PLACE}.weights: "influence" is measured on clusters of the raw rows, which no proof covers: only '
    f'method = "{PUBLISHED}" takes it; give numbers, which are public'
)


def choose(spec: Spec) -> Choice:
    """Return every method that makes records, under the noise that suits it best, in the order of `PREFERRED`.

    Raises:
        NotSupported: no method serves the specification.
        ValueError: a parameter is wrong.
    """
    users, best = expected_users(spec), dict[str, Candidate]()
    for method, maker in record_makers(spec, spec.privacy.loss.payable):
        candidate = Candidate(method=method, mechanism=maker, predicted_error=maker.noise_sse(users))
        best[method] = min(candidate, best.get(method, candidate), key=rank)  # last of equals: rho suits many answers
    candidates, schema = tuple(sorted(best.values(), key=_preference)), spec.schema
    return Choice(
        workload=Marginals(schema.shape, tuple((axis,) for axis in range(len(schema.shape)))),
        schema=schema,
        candidates=candidates,
        chosen=candidates[0],
        lower_bound=0.0,
        users=users,
        unit=UNIT,
    )


def _preference(candidate: Candidate) -> int:
    return PREFERRED.index(candidate.method) if candidate.method in PREFERRED else len(PREFERRED)


def hindrance(spec: Spec) -> str:
    """Return why the records of a spec that names no method are not made by the nearest one; empty where they are."""
    if not has_scipy():
        return "it needs SciPy: pip install 'dpress[numerics]'"
    if len(_rules(spec).measured(len(spec.schema.tabular))) < 2:
        return "it needs two attributes or more"
    if of_kind(spec, Records).weights is not None:
        return "it knows no distance of records, and so no `weights`"
    if "rounds" in spec.release.parameters:
        return "`rounds` are those of clusters unless a method is named"
    if untaken := [name for name in beside(spec) if name not in names(catalog.card(NEAREST).parameters)]:
        return f"it takes no {', '.join(f'`{name}`' for name in untaken)}"
    return ""


def _rules(spec: Spec) -> Rules:
    """Return the rules of a specification's constraints."""
    if not spec.constraints and (spec.linked is None or not spec.linked.both):
        return NONE
    from dpress.kinds.microdata.read_constraints import rules_of  # noqa: PLC0415  # it reads conditions

    return rules_of(spec)


def weights(spec: Spec) -> tuple[float, ...]:
    """Return the weights of a spec's attributes in the distance of two records.

    Raises:
        NotSupported: an attribute is a location, or a number that may be missing; or weights are to be read off rows
            that nothing has been paid for.
        ValueError: the weights are wrong, or tables are to be adjusted, which there are none of.
    """
    if spec.privacy.model == "local":
        raise NotSupported(
            '$.privacy.model: kind = "microdata" needs a table: model = "central"; '
            'devices are asked with kind = "joint", of which `dpress estimate --records` draws records'
        )
    if spec.release.postprocess:
        raise ValueError('$.release.postprocess: kind = "microdata" has no tables to adjust')
    attributes: Sequence[Tabular] = spec.schema.tabular
    stated = of_kind(spec, Records).weights
    if stated == "influence" and spec.release.method != PUBLISHED:
        raise NotSupported(INFLUENCE)
    given = [1.0] * len(attributes) if stated is None or isinstance(stated, str) else stated
    if len(given) != len(attributes) or not any(given) or math.inf in given:
        raise ValueError(
            f"{PLACE}.weights: expected {len(attributes)} numbers >= 0, one for every attribute, got {given!r:.100}"
        )
    return tuple(given)


def record_makers(spec: Spec, losses: Sequence[Loss]) -> Iterator[tuple[str, RecordMaker]]:
    """Yield by method every way to make the records of a spec, within the losses that the budget pays for.

    Raises:
        NotSupported: no method makes records with these attributes, parameters and losses.
        ValueError: a parameter is wrong.
    """
    each, rules, made, refused = weights(spec), _rules(spec), 0, list[NotSupported]()
    every = columns(spec.schema.tabular, each)
    attributes = tuple(every[axis] for axis in rules.measured(len(every)))
    restricted = bool(rules.possible(spec.schema.shape).parts)
    named = spec.release.method != "auto"
    for card, parameters in _offers(spec):
        for loss in losses:
            try:
                synthesizer = _made(card, attributes, loss, spec, parameters)
            except NotSupported as error:
                refused.append(error)
                continue
            if synthesizer is None:
                continue
            if restricted and not synthesizer.conditional:
                refused.append(NotSupported(f"$.constraint: {card.name} {UNCONDITIONAL}"))
                continue
            made += 1
            maker = RecordMaker(attributes=spec.schema.tabular, weights=each, synthesizer=synthesizer, rules=rules)
            yield card.name, maker
    if refused and not made:
        raise refused[0]
    if not made:
        what = spec.release.method if named else "no method"
        raise NotSupported(f"$.release.method: {what} does not serve these attributes under this budget")


def _offers(spec: Spec) -> Iterator[tuple[Card, dict[str, Any]]]:
    """Yield the method that the spec names, or those with a proof that take its parameters, with their arguments."""
    method = spec.release.method
    makers = catalog.cards("synthesizer", named=method)
    if spec.release.parameters.get("rows") == "aligned":
        raise NotSupported(ORDER)
    if method not in ("auto", *makers):
        raise NotSupported(f"$.release.method: {method!r} makes no records; those that do: {', '.join(makers)}")
    left_out = NEAREST if hindrance(spec) else ""
    offered = [name for name in sorted(PREFERRED) if name != left_out] if method == "auto" else [method]
    arguments = of_methods(spec, {name: makers[name].parameters for name in offered})
    _check_sizes(spec)
    influence = {"weights": "influence"} if of_kind(spec, Records).weights == "influence" else {}
    for name, parameters in arguments.items():
        users = {"users": expected_users(spec)} if "users" in names(makers[name].parameters) else {}
        yield makers[name], users | parameters | influence


def _check_sizes(spec: Spec) -> None:
    """Refuse clusters and groups of more than all records, and one cluster for all."""
    given, users = spec.release.parameters, expected_users(spec)
    alike = given.get("rows") == "representative" or spec.release.method == PUBLISHED
    if given.get("clusters") == 1 and alike:
        raise ValueError(f"{PLACE}.clusters: expected at least 2, got 1: all records would be about the same")
    for name in ("clusters", "group"):
        if "users" in given and (given.get(name) or 0) > users:
            raise ValueError(f"{PLACE}.{name}: expected at most `users`, {users}, got {given[name]}")


def _made(
    card: Card, columns: tuple[Column, ...], loss: Loss, spec: Spec, parameters: Mapping[str, Any]
) -> Synthesizer | None:
    assert card.synthesizer is not None  # noqa: S101  # of one that makes records
    try:
        return card.synthesizer(columns, loss, spec.privacy.protected, **parameters)
    except NotSupported:
        raise
    except ValueError as error:
        raise ValueError(str(error) if str(error).startswith("$") else f"{PLACE}: {error}") from None
