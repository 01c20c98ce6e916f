"""What a source says of its columns before a row is read: names, declared types, the labels of its dictionary."""

from dataclasses import dataclass

KINDS = (
    (("bool", "char", "text", "string", "enum", "uuid"), "categorical"),
    (("timestamp", "datetime"), "datetime"),
    (("date",), "date"),
    (("int", "serial"), "integer"),
    (("double", "float", "real", "decimal", "numeric"), "numeric"),
)
"""Parts of the names of types, and the kind of attribute that such a column most often is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A column as its source declares it.

    Args:
        name: of the column.
        type: in the source's own words; empty where it declares none, as a file of text does.
        kind: of attribute that columns of this type most often are; empty where the type does not say.
        title: what the source's dictionary calls it; empty without one.
        labels: of the values that the dictionary lists, in its order; rows need not hold them, and may hold others.
    """

    name: str
    type: str = ""
    kind: str = ""
    title: str = ""
    labels: tuple[str, ...] = ()


def kind_of(declared_type: str) -> str:
    """Return the kind of attribute that columns of a type most often are; empty where it does not say."""
    lowered = declared_type.lower()
    return next((kind for parts, kind in KINDS if any(part in lowered for part in parts)), "")
