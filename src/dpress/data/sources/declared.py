"""What a source says of its columns before a row is read: names, declared types, the labels of its dictionary."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpress.data.sources.open_source import PLAIN, open_source
from dpress.data.sources.path_columns import PathRows
from dpress.data.sources.source import SqlSource
from dpress.data.sources.survey_rows import SurveyRows
from dpress.data.specification.file_format import FileFormat

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


def declared(data: Any, written: FileFormat = PLAIN) -> list[Declared]:
    """Return what a source declares of its columns; no row is read but a text file's first line, for the names.

    Args:
        data: a file, a folder, a glob, `DATABASE#TABLE`, or a table in Python.
        written: how a file of text is written.

    Raises:
        OSError: the source cannot be read.
        SchemaMismatch: it is none.
    """
    source = open_source(data, written).source
    if isinstance(source, PathRows):
        source = source.source
    if isinstance(source, SurveyRows):
        return _of_survey(source)
    types = _types(source)
    return [Declared(name=name, type=types.get(name, ""), kind=_kind(types.get(name, ""))) for name in source.columns()]


def _types(source: Any) -> Mapping[str, str]:
    if isinstance(source, SqlSource):
        return source.types()
    schema = getattr(source, "schema", None)
    return {field.name: str(field.type) for field in schema()} if callable(schema) else {}


def _kind(declared_type: str) -> str:
    lowered = declared_type.lower()
    return next((kind for parts, kind in KINDS if any(part in lowered for part in parts)), "")


def _of_survey(source: SurveyRows) -> list[Declared]:
    """Return what a statistics package wrote into its file; a labelled value is read as its label."""
    source.columns()  # refuses a damaged head, and files of several tables
    about = source.read(source.files[0], metadataonly=True)[1]
    declared = []
    for name in about.column_names:
        labels = tuple(dict.fromkeys(map(str, about.variable_value_labels.get(name, {}).values())))
        declared_type = about.readstat_variable_types.get(name, "")
        kind = "categorical" if labels else _kind(declared_type)
        title = about.column_names_to_labels.get(name) or ""
        declared.append(Declared(name=name, type=declared_type, kind=kind, title=title, labels=labels))
    return declared
