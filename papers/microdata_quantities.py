"""What the claims on mixed microdata are about: columns of one method beside those of others, over k and d."""

import math
from collections.abc import Sequence

from quantities import Quantity, Row, chosen, mean, settings

PLACE = (8, 20)  # d and k of counter-examples and of lines about ours
BUDGET = "1"  # of the claims that name one
GROUPS_OF_K, SAME_NUMBER = "k clusters, groups of k", "as many groups as clusters"
PUBLISHED = {"dp_k_prototypes": {"starts": "one clustering"}, "mdav": {"compared": GROUPS_OF_K}}


def times(column: str, of: str, to: str, *, table: str) -> Quantity:
    """Return the mean of a column of one method over that of another."""
    return Quantity(
        words=f"SSE with {of} over that with {to}",
        table=table,
        where={"method": (of, to)},
        of=lambda rows: mean(chosen(rows, {"method": of}), column) / mean(chosen(rows, {"method": to}), column),
        example=lambda value: [{"method": of, column: value}, {"method": to, column: 1.0}],
    )


def over_k(column: str, what: str, **where: object) -> Quantity:
    """Return by what part a column at the largest k is above (+) or below (-) that at the smallest: `_above`."""

    def over(rows: Sequence[Row]) -> float:
        least, *_, most = sorted({row["k"] for row in rows})
        first, last = (mean(chosen(rows, {"k": k}), column) for k in (least, most))
        return _above(last, first)

    return Quantity(
        words=f"{what} at the largest k less that at the smallest, as a part of the larger",
        table="errors",
        where=where,
        of=over,
        example=lambda value: [{"k": k, column: own} for k, own in zip((100, 3), _pair(value), strict=True)],
    )


def most_times(of: str, to: str, column: str) -> Quantity:
    """Return the largest ratio over all d and k of one method to another that has no k."""

    def largest(rows: Sequence[Row]) -> float:
        found = []
        for own in settings(rows, ("d",)).values():
            rival = chosen(own, {"method": to})
            below = mean(rival, column) if rival else math.inf  # not run at this d
            every = settings(chosen(own, {"method": of}), ("k",)).values()
            found += [mean(same, column) / below for same in every]
        return max(found)

    return Quantity(
        words=f"largest {column} SSE of {of} over that of {to}, over all d and k",
        table="errors",
        where={"epsilon": BUDGET, "method": (of, to)},
        of=largest,
        example=lambda value: [
            {"method": of, "d": 8, "k": 20, column: value},
            {"method": to, "d": 8, "k": 0, column: 1.0},
        ],
    )


def over_best(of: str, rivals: tuple[str, ...], column: str, **where: object) -> Quantity:
    """Return by what part a column of one method is above (+) or below (-) the least of its rivals', at d = 8.

    It has about the same relative error where ours wins and where it loses: `_above`.
    """

    def over(rows: Sequence[Row]) -> float:
        own = mean([row for row in rows if row["method"] == of and row["k"] == _k(rows, of)], column)
        least = min(mean(_published(rows, one), column) for one in rivals)
        return _above(own, least)

    def example(value: float) -> list[Row]:
        own, least = _pair(value)
        rows = [
            {"method": one, "k": PLACE[1], **PUBLISHED.get(one, {}), column: least + place}
            for place, one in enumerate(rivals)
        ]
        return [{"method": of, "k": 0, column: own}, *rows]

    return Quantity(
        words=f"{column} of {of} less the least of {', '.join(rivals)}, as a part of the larger",
        table="errors",
        where={"d": PLACE[0], "method": (of, *rivals), **where},
        of=over,
        example=example,
    )


def _k(rows: Sequence[Row], of: str) -> int:
    """Return the largest group of a method that has groups, and what the plan chooses, 0, of one that has none."""
    sizes = {row["k"] for row in rows if row["method"] == of}
    return 0 if 0 in sizes else max(sizes, default=0)


def _published(rows: Sequence[Row], name: str) -> list[Row]:
    """Return the rows of a rival: of a published release those at k = 20, of one clustering, or groups of k."""
    own = chosen(rows, {"method": name})
    return chosen(own, {"k": PLACE[1], **PUBLISHED[name]}) if name in PUBLISHED else own


def _above(one: float, other: float) -> float:
    """Return (a - b) / max(a, b), from -1 to 1: by what part of the larger a is above b."""
    return (one - other) / max(one, other)


def _pair(part: float) -> tuple[float, float]:
    """Return two numbers of which the first is above the second by this part of the larger."""
    return (1.0, 1 - part) if part > 0 else (1 + part, 1.0)
