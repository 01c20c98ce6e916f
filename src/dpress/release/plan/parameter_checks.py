"""The one checker of [release.parameters]: what is the kind's own, and what every method takes of the rest."""

from collections.abc import Mapping
from typing import Any

from dpress import catalog
from dpress.core.basics import parameters
from dpress.core.basics.kind import Participants
from dpress.core.basics.near import meant
from dpress.core.basics.parameters import PLACE, Own, Parameters, names
from dpress.core.methods.mechanism import Card
from dpress.data.specification.spec import Spec

Methods = Mapping[str, type[Parameters]]


def of_kind(spec: Spec, struct: type[Own]) -> Own:
    """Return the parameters of a struct that is the kind's own, with their defaults.

    Raises:
        ValueError: a value is not what it must be; the line names its place and what would be right.
    """
    return parameters.read(struct, spec.release.parameters)


OTHER_PARAMETERS = {
    **dict.fromkeys(("group_by", "groupby", "groups", "grouping"), "groups are `by`"),
    **dict.fromkeys(("std", "sd", "stddev", "deviation"), "a deviation is the root of `variance`"),
    **dict.fromkeys(("max", "min", "range"), "extremes are not published; take quantiles = { NAME = [0.01, 0.99] }"),
    **dict.fromkeys(("count", "counts", "n"), "counts of the groups are published in any case"),
    **dict.fromkeys(("percentile", "percentiles", "quartiles"), "percentiles are quantiles = { NAME = [0.9] }"),
}
"""What other programs call parameters of statistics."""


def expected_users(spec: Spec) -> int:
    """Return how many users, or records, the plan is made for."""
    return of_kind(spec, Participants).users


def taken(spec: Spec) -> type[Parameters]:
    """Return the struct of what a specification may set whatever the method."""
    return catalog.kind(spec.release.kind).takes(spec.release.kind, spec.privacy.model)


def beside(spec: Spec) -> list[str]:
    """Return the parameters that are a method's: all that are not the kind's own, in alphabetical order."""
    return sorted(set(spec.release.parameters) - set(names(taken(spec))))


def of_methods(
    spec: Spec, methods: Methods, *, method: str = "", hints: Mapping[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    """Return the keyword arguments of every method that takes all parameters that are not the kind's own.

    Where the spec names one of the methods, that one must take them; else at least one of them must.

    Args:
        spec: what is asked for.
        methods: those that could serve, with their parameters.
        method: the one that must take them, where a planner has settled on one.
        hints: what else to say where a parameter of this name is not known.

    Raises:
        ValueError: a parameter is not known, or not what it must be; the line names its place and what would be right.
    """
    given, named = spec.release.parameters, method or spec.release.method
    wanted = {named: methods[named]} if named in methods else methods
    allowed = dict.fromkeys([*names(taken(spec)), *(name for fields in wanted.values() for name in names(fields))])
    unknown(given, tuple(allowed), named if named in methods else _kind(spec), hints or {})
    parameters.read(taken(spec), given)
    arguments, faults = {}, []
    for name, fields in methods.items():
        if set(beside(spec)) <= set(names(fields)):
            try:
                arguments[name] = parameters.arguments(fields, given, name)
            except ValueError as fault:
                faults += [fault] if name in wanted else []
    if faults and not set(wanted) & set(arguments):
        raise faults[0]
    if wanted and not arguments:
        raise ValueError(unserved(spec))
    return arguments


def parameters_of(card: Card, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of one method.

    Raises:
        ValueError: see `of_methods`.
    """
    unknown(given, names(card.parameters), card.name, {})
    return parameters.arguments(card.parameters, given, card.name)


def unserved(spec: Spec) -> str:
    """Return that no method takes all the parameters together."""
    return f"{PLACE}: no method takes {', '.join(beside(spec))} for this release of kind {spec.release.kind!r}"


def unknown(given: Mapping[str, Any], allowed: tuple[str, ...], whom: str, hints: Mapping[str, str]) -> None:
    """Refuse a parameter that nobody takes.

    Raises:
        ValueError: there is one; the line names those that there are.
    """
    if more := sorted(set(given) - set(allowed)):
        hint = f"; {hints[more[0]]}" if more[0] in hints else ""
        listed, called = ", ".join(allowed) or "none", OTHER_PARAMETERS.get(more[0].lower(), "")
        near = f"; {called}" if called and "mean" in allowed else meant(more[0], allowed)
        raise ValueError(f"{PLACE}: unknown parameter {more[0]!r} for {whom}{hint}; known: {listed}{near}")


def _kind(spec: Spec) -> str:
    """Return what the kind is called in a refusal."""
    local = "a local collection of " if spec.privacy.model == "local" else ""
    return f"{local}kind {spec.release.kind!r}"
