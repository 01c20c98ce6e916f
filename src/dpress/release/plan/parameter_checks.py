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


def of_kind(spec: Spec, own: type[Own]) -> Own:
    """Return the parameters of a struct that is the kind's own, with their defaults.

    Raises:
        ValueError: a value is not what it must be; the line names its place and what would be right.
    """
    return parameters.read(own, spec.release.parameters)


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
    asked = {named: methods[named]} if named in methods else methods
    known = dict.fromkeys([*names(taken(spec)), *(name for own in asked.values() for name in names(own))])
    unknown(given, tuple(known), named if named in methods else _kind(spec), hints or {})
    parameters.read(taken(spec), given)
    found, faults = {}, []
    for name, own in methods.items():
        if set(beside(spec)) <= set(names(own)):
            try:
                found[name] = parameters.arguments(own, given, name)
            except ValueError as fault:
                faults += [fault] if name in asked else []
    if faults and not set(asked) & set(found):
        raise faults[0]
    if asked and not found:
        raise ValueError(unserved(spec))
    return found


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


def unknown(given: Mapping[str, Any], known: tuple[str, ...], whom: str, hints: Mapping[str, str]) -> None:
    """Refuse a parameter that nobody takes.

    Raises:
        ValueError: there is one; the line names those that there are.
    """
    if more := sorted(set(given) - set(known)):
        hint = f"; {hints[more[0]]}" if more[0] in hints else ""
        listed = ", ".join(known) or "none"
        raise ValueError(
            f"{PLACE}: unknown parameter {more[0]!r} for {whom}{hint}; known: {listed}{meant(more[0], known)}"
        )


def _kind(spec: Spec) -> str:
    """Return what the kind is called in a refusal."""
    local = "a local collection of " if spec.privacy.model == "local" else ""
    return f"{local}kind {spec.release.kind!r}"
