"""Attributes with a public list of values, each of them a cell."""

from functools import cached_property

import msgspec

from dpress.core.named import Named, check_labels
from dpress.core.policy import DROP, REJECT

Value = str | int | bool


class Categorical(Named, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="categorical"):
    """A public list of values; each is a cell.

    Args:
        values: all of one type: strings, integers or booleans.
        other: the name of the cell for anything else, or "reject" or "drop".
        null: the name of the cell for missing values, or "reject" or "drop"; left out, a missing value is an `other`.
        hierarchy: a CSV file `value,level1,...`; once loaded, its rows.
        value_labels: for people, by the values' texts; a CSV file `value,label` before it is loaded.
    """

    values: tuple[Value, ...]
    other: str = REJECT
    null: str | None = None
    hierarchy: str | tuple[tuple[str, ...], ...] | None = None
    value_labels: str | dict[str, str] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="labels")

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if not self.values:
            raise ValueError(f"attribute {self.name}: `values` must list at least one value")
        if len({type(value) for value in self.values}) > 1:
            raise ValueError(f"attribute {self.name}: `values` must be all strings, all integers or all booleans")
        if isinstance(self.values[0], int) and max(abs(int(value)) for value in self.values) > 2**53:
            raise ValueError(f"attribute {self.name}: integers in `values` must lie within 2^53")
        if len(set(self.labels)) != len(self.labels):
            raise ValueError(f"attribute {self.name}: `values`, `other` and `null` must name different cells")
        if isinstance(self.value_labels, dict):
            check_labels(self.name, self.value_labels, self.labels[: len(self.values)], (*self.extra, *self.groups))

    @property
    def extra(self) -> tuple[str, ...]:
        """The cells beside the listed values: `other`, then `null`, where they are named."""
        names = [self.other, self.other if self.null is None else self.null]
        return tuple(dict.fromkeys(name for name in names if name not in (REJECT, DROP)))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The name of every cell, in code order."""
        return tuple(_text(value) for value in self.values) + self.extra

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.labels)

    @cached_property
    def captions(self) -> tuple[str, ...]:
        """The label of every cell for people, its name where it has none."""
        own = self.value_labels if isinstance(self.value_labels, dict) else {}
        return tuple(own.get(label, label) for label in self.labels)

    def labels_between(self, start: int, stop: int) -> list[str]:
        """Return the names of the cells start..stop-1."""
        return list(self.labels[start:stop])

    def code(self, label: str) -> int | None:
        """Return the cell of that name or label, or None."""
        return next((names.index(label) for names in (self.labels, self.captions) if label in names), None)

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order; 0 for a list without one."""
        return 0

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """The codes behind every label of the hierarchy's upper levels."""
        found: dict[str, list[int]] = {}
        rows = self.hierarchy if isinstance(self.hierarchy, tuple) else ()
        for value, *levels in rows:
            for label in dict.fromkeys(levels):
                if value in self.labels:
                    found.setdefault(label, []).append(self.labels.index(value))
        return {label: tuple(codes) for label, codes in found.items() if label not in self.labels}


class Ordinal(Categorical, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="ordinal"):
    """A categorical attribute whose values are listed in their order, so that ranges make sense."""

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order."""
        return len(self.values)


Listed = Categorical | Ordinal


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
