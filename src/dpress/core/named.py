"""What an attribute is called: its name for programs; a title, a unit and labels of its values for people.

Nothing but pages, tables and queries depends on the words for people: no code of a value, no collection's name.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, UnsetType

Words = str | UnsetType  # left out of what is written where it is not set, so that documents without it keep their hash


class Named(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", dict=True):
    """What every attribute has: a name, which is also the column unless the kind names its columns.

    Args:
        name: in queries, tables and files.
        title: for people, on pages.
        unit: of its numbers, for people.
    """

    missing: ClassVar[str] = "null"  # the field that says what happens to a missing value
    name: str
    title: Words = UNSET
    unit: Words = UNSET

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return (self.name,)

    @property
    def caption(self) -> str:
        """The title, or the name without one, and the unit in parentheses."""
        return str(self.title or self.name) + (f" ({self.unit})" if self.unit else "")


def check_values(attribute: str, values: Sequence[object], labels: Sequence[str]) -> None:
    """Refuse listed values that are none, of several types, or too large, and cells of one name.

    Raises:
        ValueError: naming the first fault.
    """
    if not values:
        raise ValueError(f"attribute {attribute}: `values` must list at least one value")
    if len({type(value) for value in values}) > 1:
        raise ValueError(f"attribute {attribute}: `values` must be all strings, all integers or all booleans")
    if max((abs(value) for value in values if isinstance(value, int)), default=0) > 2**53:
        raise ValueError(f"attribute {attribute}: integers in `values` must lie within 2^53")
    if len(set(labels)) != len(labels):
        raise ValueError(f"attribute {attribute}: `values`, `other` and `null` must name different cells")


def check_discovered(attribute: Any, *, ordered: bool) -> None:
    """Refuse to discover values of which something must be known beforehand.

    Args:
        attribute: a list of values.
        ordered: whether they have an order.

    Raises:
        ValueError: naming the first fault.
    """
    known = {"an order": ordered, "`hierarchy`": attribute.hierarchy, "`labels`": attribute.value_labels}
    fault = next((f"`values` must be listed where they have {name}" for name, own in known.items() if own), "")
    if attribute.other == "drop":
        fault = fault or "`other` must name the rest where values are discovered, not drop it"
    if attribute.null not in (None, "reject", "drop"):
        fault = fault or '`null` must be "drop" or "reject" where values are discovered'
    if fault:
        raise ValueError(f"attribute {attribute.name}: {fault}")


def check_labels(attribute: str, labels: Mapping[str, str], values: Collection[str], others: Collection[str]) -> None:
    """Refuse labels that belong to no value, or that a query could take for another value.

    Args:
        attribute: whose they are.
        labels: of values, by the values' texts.
        values: the texts that have a label.
        others: what else a query may name: cells beside the values, groups of a hierarchy.

    Raises:
        ValueError: naming the first fault.
    """
    taken = {*others, *values}
    for value, label in labels.items():
        if value not in values:
            known = ", ".join(list(values)[:8]) + (", ..." if len(values) > 8 else "")
            raise ValueError(f"attribute {attribute}: `labels` names {value!r}, which is none of its values ({known})")
        if not label.strip():
            raise ValueError(f"attribute {attribute}: the label of {value!r} is empty; leave it out")
        if label in taken and label != value:
            raise ValueError(
                f"attribute {attribute}: the label {label!r} of {value!r} is also another value, label or group; "
                "labels must tell values apart"
            )
        taken.add(label)


def groups_of(rows: Sequence[Sequence[str]], labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the codes behind every label of a hierarchy's upper levels.

    Args:
        rows: `value, level 1, ...` for every value.
        labels: of the cells, in code order.
    """
    found: dict[str, list[int]] = {}
    for value, *levels in rows:
        for label in dict.fromkeys(levels):
            if value in labels:
                found.setdefault(label, []).append(labels.index(value))
    return {label: tuple(codes) for label, codes in found.items() if label not in labels}
