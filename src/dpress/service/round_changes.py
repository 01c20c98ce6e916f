"""Rounds end and begin: by hand or by the design's schedule, and the next design is that of `dpress estimate`."""

import contextlib

import msgspec

from dpress.document.design import Design
from dpress.release.devices.estimate import estimate
from dpress.release.devices.next_round import next_design
from dpress.service.problem import Problem
from dpress.service.served import Collections, Served, now


def close(collections: Collections, served: Served) -> Served:
    """Close a round, if it is not closed yet.

    Raises:
        OSError: the store cannot be used.
    """
    collections.store.close(served.round.place)
    collections.refresh()
    return collections.served(served.round.ask)


def begin_next(collections: Collections, served: Served, url: str) -> Served:
    """Begin the round after a closed one; where it has begun already, return it.

    Of a collection whose rounds build on each other it is planned from this round's release; otherwise the same is
    asked once more.

    Args:
        collections: that are served.
        served: the round.
        url: of the store.

    Raises:
        Problem: the round is still open, there are no reports, or it was the last one.
        OSError: the store cannot be used.
    """
    if served.open(now()):
        raise Problem(409, "this round is still open; close it first")
    close(collections, served)
    if served.following is not None:
        return collections.newest(served)
    return collections.add(_next(served.design, url), after=served.round)


def _next(design: Design, url: str) -> Design:
    if design.local and design.ask.rounds is None:
        return msgspec.structs.replace(design, round=design.round + 1)
    try:
        following = next_design(estimate(design, url, allow_unproven=True))
    except ValueError as error:
        raise Problem(409, f"the next round cannot be planned: {error}") from None
    if following is None:
        raise Problem(409, "this was the last round")
    return following


def turn(collections: Collections, url: str) -> None:
    """Close the rounds whose end has come, and begin those that follow by schedule.

    A round that cannot be followed, because it has no reports, holds up no other collection.

    Args:
        collections: that are served.
        url: of the store.

    Raises:
        OSError: the store cannot be used.
    """
    collections.refresh()
    for served in collections.all():
        if not served.round.closed and not served.open(now()):
            close(collections, served)
    for served in collections.all():
        if served.round.closed and served.following is None and _scheduled(served):
            with contextlib.suppress(Problem):
                begin_next(collections, served, url)


def _scheduled(served: Served) -> bool:
    """Return whether the schedule has another round after this one."""
    return served.round.number + 1 < len(served.design.ends or ())
