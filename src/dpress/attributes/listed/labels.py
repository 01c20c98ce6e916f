"""Labels of listed values, for people: they tell the values apart."""

from collections.abc import Collection, Mapping


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
            shown = ", ".join(list(values)[:8]) + (", ..." if len(values) > 8 else "")
            raise ValueError(f"attribute {attribute}: `labels` names {value!r}, which is none of its values ({shown})")
        if not label.strip():
            raise ValueError(f"attribute {attribute}: the label of {value!r} is empty; leave it out")
        if label in taken and label != value:
            raise ValueError(
                f"attribute {attribute}: the label {label!r} of {value!r} is also another value, label or group; "
                "labels must tell values apart"
            )
        taken.add(label)
