"""What a specification names beside itself: the place of its rows, files of hierarchies, labels and tables.

Specification, folder -> the same with what these files hold.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dpress.attributes.attribute import Attribute
from dpress.core.basics.database_url import mentions_password
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.constraint import Constraint
from dpress.data.specification.file_format import beside

if TYPE_CHECKING:
    from dpress.data.specification.spec import Spec

PUBLISHED = ("title", "source", "contact", "license")  # texts for people


def with_files(spec: "Spec", folder: Path) -> "Spec":
    """Resolve the data's path, read the files that are named; refuse texts that a release must not hold."""
    for name in PUBLISHED:
        if isinstance(text := getattr(spec.release, name), str) and mentions_password(text):
            raise SchemaMismatch(f"$.release.{name}: names a URL with a password, and is published; leave that out")
    attributes = tuple(_with_contents(attribute, folder) for attribute in spec.attribute)
    data = spec.data
    if data is not None:
        data = msgspec.structs.replace(data, source=beside(data.source, folder))
    parameters = _with_tables(spec.release.parameters, folder)
    release = msgspec.structs.replace(spec.release, parameters=parameters)
    changed: dict[str, Any] = {"constraint": tuple(_constraints(spec, folder))} if spec.constraints else {}
    if spec.table:
        changed["table"] = tuple(table.beside(folder) for table in spec.table)
    return msgspec.structs.replace(spec, attribute=attributes, data=data, release=release, **changed)


def _with_tables(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return parameters of a release with the contents of the files that they name."""
    if not parameters:
        return parameters
    from dpress.data.specification.parameter_tables import with_tables  # noqa: PLC0415  # few have any

    return with_tables(parameters, folder)


def _constraints(spec: "Spec", folder: Path) -> Iterator[Constraint]:
    """Yield the constraints with the contents of the files that they name."""
    for place, constraint in enumerate(spec.constraints, 1):
        try:
            yield constraint.with_files(folder)
        except SchemaMismatch as error:
            raise SchemaMismatch(f"$.constraint[#{place}].table: {error}") from None


def _with_contents(attribute: Attribute, folder: Path) -> Attribute:
    """Return an attribute with the contents of the files that it names."""
    try:
        return attribute.with_files(folder)
    except SchemaMismatch:  # which names the file
        raise
    except FileNotFoundError as error:
        raise SchemaMismatch(f"$.attribute[{attribute.name}]: there is no file {error.filename}") from None
    except ValueError as error:
        raise SchemaMismatch(f"$.attribute[{attribute.name}]: {error}") from None
