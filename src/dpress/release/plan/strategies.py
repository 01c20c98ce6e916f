"""Which strategy to measure a curator's table with: every one that serves a workload, with its exact error."""

import contextlib
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, cast

from dpress import catalog
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.parameters import names
from dpress.core.maps.workload import Workload
from dpress.core.methods.mechanism import Card
from dpress.data.specification.spec import Spec
from dpress.inference.lower_bound import lower_bound
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise.distribution import calibrated
from dpress.query.counted_rows import COUNTS_OF
from dpress.release.plan.candidate import Candidate, Choice, rank
from dpress.release.plan.linear_error import mean_variance
from dpress.release.plan.parameter_checks import beside, of_methods, unserved

AUTO = "auto"
FINE = 1 << 10  # steps of a count, so fine that noise on them is as on real numbers
USERS = 10_000  # rows, where a figure needs a number that a specification does not state
LARGEST_TABLE = 1 << 26  # cells that one machine counts and publishes in memory
VALUE_COLUMNS = ("count", "standard_error", "low", "high")
SEARCH = "seconds"  # the parameter that makes planning take long
ONLY_UNDER = {"dst": "gaussian", "p_identity": "laplace"}  # strategies made for one kind of noise
BUDGETS = {"gaussian": "rho", "laplace": "epsilon"}  # that pay for it


def chosen(spec: Spec, workload: Workload) -> Choice:
    """Return every strategy that serves a workload, and the one with the least error, or the one that is named.

    Args:
        spec: what is asked for.
        workload: the queries.

    Raises:
        NotSupported: none serves it, or not the one that is named.
        ValueError: a parameter is not known, or not what it must be.
    """
    candidates = sorted(_candidates(spec, workload), key=rank)
    if not candidates:
        raise NotSupported(f"{workload.cells:,} cells are too many for every method; use fewer bins, or smaller tables")
    named = [candidate for candidate in candidates if spec.release.method in (candidate.method, AUTO)]
    if not named:
        serving = ", ".join(sorted(candidate.method for candidate in candidates))
        raise NotSupported(f"$.release.method: {why_not(spec, workload)}; those that do: {serving}")
    return Choice(
        workload=workload,
        schema=spec.schema,
        candidates=tuple(candidates),
        chosen=named[0],
        lower_bound=table_bound(named[0], workload),
        users=USERS,
    )


def table_bound(chosen: Candidate, workload: Workload) -> float:
    """Return the mean variance, in counts squared, that no strategy goes below with the kind of noise that is chosen.

    The bound of `inference.lower_bound` times the least variance of that noise for sensitivity one, a unit's rows
    counted: that of whole numbers as they are, or of fine steps of them, whichever is less.
    """
    mechanism = cast("MatrixMechanism", chosen.mechanism)
    return lower_bound(workload, mechanism.unit.relation) * min(_unit_variances(mechanism))


def _unit_variances(mechanism: MatrixMechanism) -> Iterator[float]:
    """Yield the variance of the noise for sensitivity one, in counts squared, by the steps in which it can be drawn."""
    loss, rows = mechanism.loss, Fraction(mechanism.unit.rows)
    for steps in (1, FINE):
        with contextlib.suppress(NotSupported):  # in fine steps the noise may be too large to be drawn
            yield calibrated(loss, (rows * steps) ** loss.order).variance / steps**2


def why_not(spec: Spec, workload: Workload) -> str:
    """Return why the method that a spec names is no candidate, as the beginning of a refusal."""
    name, serve = spec.release.method, f"serve kind = {spec.release.kind!r}"
    card = catalog.card(name) if catalog.has(name) else None
    if card is None or spec.privacy.model == "local":
        return f"{name!r} does not {serve}"
    if card.model == "local":
        return f'{name!r} is for local collections (model = "local") and does not {serve}'
    boxes = bool(workload.axes)
    if boxes and name in ONLY_UNDER and ONLY_UNDER[name] not in [loss.tail for loss in spec.privacy.loss.payable]:
        return f"{name!r} needs {BUDGETS[ONLY_UNDER[name]]} in [privacy] to {serve}"
    if boxes and SEARCH in names(card.parameters) and SEARCH not in spec.release.parameters:
        return f"{name!r} needs `{SEARCH}` in [release.parameters], the time to search, to {serve}"
    return f"{name!r} does not {serve}" + (" with these attributes" if boxes else "")


def _candidates(spec: Spec, workload: Workload) -> list[Candidate]:
    """Return every method that serves the workload and takes the spec's own parameters."""
    named, cards = beside(spec), catalog.cards("strategy", named=spec.release.method).values()
    serving = [card for card in cards if not named or _serves(card, workload, spec)]
    arguments = of_methods(spec, {card.name: card.parameters for card in serving})
    taking = [(card, arguments[card.name]) for card in serving if card.name in arguments]
    candidates = [best for card, more in taking if (best := _best(card, workload, spec, more)) is not None]
    if named and not candidates:
        raise ValueError(unserved(spec))
    return candidates


def _serves(card: Card, workload: Workload, spec: Spec) -> bool:
    """Say whether a method serves the workload, given the parameters that it needs."""
    if SEARCH in names(card.parameters):
        return not workload.tables
    return card.strategy is not None and any(
        card.strategy(workload, loss) is not None for loss in spec.privacy.loss.payable
    )


def _best(card: Card, workload: Workload, spec: Spec, arguments: dict[str, Any]) -> Candidate | None:
    """Return the method under the noise that suits it best within the budget, or None if it does not serve."""
    candidates = []
    for loss in spec.privacy.loss.payable:
        strategy = card.strategy(workload, loss, **arguments) if card.strategy is not None else None
        if strategy is not None:
            with contextlib.suppress(NotSupported):  # its noise is too large, or too fine, to be drawn
                mechanism = MatrixMechanism(strategy=strategy, loss=loss, unit=spec.privacy.protected)
                candidates.append(candidate(card.name, mechanism, workload))
    return min(candidates, key=lambda candidate: candidate.predicted_error, default=None)


def candidate(method: str, mechanism: MatrixMechanism, workload: Workload) -> Candidate:
    """Return a mechanism with its predicted error on a workload."""
    return Candidate(method=method, mechanism=mechanism, predicted_error=mean_variance(mechanism, workload))


def check_columns(spec: Spec, *, adjusted: bool = False) -> None:
    """Refuse attributes whose columns would hide one another in the released tables.

    Args:
        spec: what is asked for.
        adjusted: whether the tables have adjusted counts even where no post-processing is named.
    """
    capped = (COUNTS_OF,) if spec.privacy.unit != "row" else ()
    columns = [*VALUE_COLUMNS, *capped, *(("adjusted",) if spec.release.adjustments or adjusted else ())]
    for attribute in spec.schema.tabular:
        edges = (f"{attribute.name}_from", f"{attribute.name}_below") if attribute.line is not None else ()
        label = (f"{attribute.name}_label",) if attribute.labelled else ()
        columns += [attribute.name, *edges, *label]
    for name in columns:
        if columns.count(name) > 1:
            raise ValueError(f"$.attribute: the released tables would have two columns {name!r}; rename an attribute")


def check_discovered(spec: Spec) -> None:
    """Refuse all but one attribute whose values are to be found, and counts that are adjusted.

    Raises:
        NotSupported: there are several attributes, values are listed, or post-processing is named.
        ValueError: see `check_columns`.
    """
    check_columns(spec)
    attributes = spec.schema.attributes
    if not (len(attributes) == 1 and attributes[0].discovered):
        raise NotSupported(
            f'$.release.attributes: kind = "{spec.release.kind}" releases one categorical attribute with values = '
            f'"discover", got {", ".join(spec.schema.names)}'
        )
    if spec.release.postprocess:
        raise NotSupported(f'$.release.postprocess: kind = "{spec.release.kind}" adjusts no counts; leave it out')
