"""What came out of earlier rounds, and which leaves this one is about, as a specification says it.

parameters of a specification -> checked, plain and hashable.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dpress.core.leaves import named

PLACE = "$.release.parameters"
Names = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came out of one question of an earlier round; public.

    Args:
        nodes: the leaves that were asked about, as paths (`core.leaves`).
        counts: how many of those who answered are estimated to be in each.
        users: how many answered.
    """

    nodes: tuple[str, ...]
    counts: tuple[int, ...]
    users: int


def answered(earlier: object, height: int) -> tuple[Answered, ...]:
    """Return what came out of the questions of earlier rounds, `[release.parameters] earlier`.

    Args:
        earlier: a list of tables with the keys users, counts and nodes.
        height: of the quadtree.

    Raises:
        ValueError: it is none; the message names the place.
    """
    return tuple(_read(one, f"{PLACE}.earlier[{i}]", height) for i, one in enumerate(_list(earlier, "earlier")))


def partitions(nodes: object, height: int) -> tuple[Names, ...]:
    """Return the leaves of each question of a round, `[release.parameters] nodes`.

    Raises:
        ValueError: they are no partition; the message names the place.
    """
    return tuple(_names(one, f"{PLACE}.nodes[{i}]", height) for i, one in enumerate(_list(nodes, "nodes")))


def _list(given: object, name: str) -> Sequence[object]:
    if not isinstance(given, (list, tuple)):
        raise ValueError(f"{PLACE}.{name}: expected a list, got {type(given).__name__}")
    return given


def _names(given: object, place: str, height: int) -> tuple[str, ...]:
    names = tuple(given) if isinstance(given, (list, tuple)) and all(isinstance(one, str) for one in given) else ()
    try:
        named(names, height)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    return names


def _read(given: object, place: str, height: int) -> Answered:
    """Return one answered question as a specification says it."""
    if not isinstance(given, dict) or set(given) != {"users", "counts", "nodes"}:
        raise ValueError(f"{place}: expected {{ users, counts, nodes }}")
    names = _names(given["nodes"], f"{place}.nodes", height)
    counts, users = given["counts"], given["users"]
    whole = isinstance(counts, (list, tuple)) and all(type(one) is int for one in counts)
    if not whole or len(counts) != len(names):
        raise ValueError(f"{place}.counts: expected an integer for each of {len(names)} nodes")
    if type(users) is not int or users < 0:
        raise ValueError(f"{place}.users: expected an integer >= 0, got {users!r}")
    return Answered(nodes=names, counts=tuple(counts), users=users)
