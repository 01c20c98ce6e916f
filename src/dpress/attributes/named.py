"""What an attribute is called: its name for programs; a title, a unit and labels of its values for people.

Nothing but pages, tables and queries depends on the words for people: no code of a value, no collection's name.
"""

from collections.abc import Collection, Mapping
from typing import ClassVar

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
    distinct, taken = {*values}, {*others, *values}
    for value, label in labels.items():
        if value not in distinct:
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
