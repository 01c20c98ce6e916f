"""Rows in files of Stata, SPSS and SAS, chunk by chunk: codes, or their labels where texts are asked for.

file -> a chunk of the wanted columns -> numbers, texts and dates by themselves, missing values of every sort as null.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from dpress.attributes.arrow import objects
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.extras import load
from dpress.data.sources import sound
from dpress.data.sources.declared import Declared, kind_of
from dpress.data.sources.files import Stamp, stamp_of
from dpress.data.sources.source import BATCH_ROWS, Source, check_columns, without_quotes
from dpress.data.specification.file_format import UTF_8, codec

READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
SURVEYS = tuple(READERS)
FRAGILE = (".sav", ".zsav")
READ_HEAD = "import sys, pyreadstat; pyreadstat.read_sav(sys.argv[1], metadataonly=True)"
UNCODED = ".por"  # whose reader takes no encoding
LINE = "{} cannot be read as a file of Stata, SPSS or SAS: it is none, or damaged (the reader's message is withheld)"
Labels = Mapping[Any, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRows(Source):
    """One or several files of one statistics package with the same columns.

    Args:
        files: in the order in which they are read.
        name: what to call them in a message.
        texts: the columns whose listed values are texts: a labelled value is its label there, any other itself.
        encoding: of the texts, where the files do not say it.
    """

    files: tuple[Path, ...]
    name: str
    texts: frozenset[str]
    encoding: str
    stable: ClassVar[bool] = True  # file after file, row after row
    portable: ClassVar[bool] = True  # a part is the name of a file

    def stamp(self) -> Stamp:
        """Return what changes when a file does."""
        return stamp_of(self.files)

    def columns(self) -> list[str]:
        """Return the names of all columns.

        Raises:
            SchemaMismatch: the files' columns differ.
        """
        self.stamp()
        for path in self.files:
            _check_sound(path)
        first, *others = (self.read(path, metadataonly=True)[1].column_names for path in self.files)
        for path, columns in zip(self.files[1:], others, strict=True):
            if columns != first:
                raise SchemaMismatch(f"{path} has other columns than {self.files[0]}; name files of one table")
        return list(first)

    def declared(self) -> list[Declared]:
        """Return what a statistics package wrote into its file; a labelled value is read as its label."""
        self.columns()  # refuses a damaged head, and files of several tables
        about, declared = self.read(self.files[0], metadataonly=True)[1], []
        for name in about.column_names:
            labels = tuple(dict.fromkeys(map(str, about.variable_value_labels.get(name, {}).values())))
            stored = about.readstat_variable_types.get(name, "")
            title = about.column_names_to_labels.get(name) or ""
            kind = "categorical" if labels else kind_of(stored)
            declared.append(Declared(name=name, type=stored, kind=kind, title=title, labels=labels))
        return declared

    def parts(self, columns: Sequence[str]) -> Sequence["SurveyPart"]:
        """Return the files, each read as a whole."""
        check_columns(self.name, columns, self.columns())
        return [SurveyPart(rows=self, path=path, columns=tuple(columns)) for path in self.files]

    def read(self, path: Path, **options: Any) -> Any:
        """Return what the reader of such files makes of one: columns as lists, and what the file says of itself."""
        kind, encoding = path.suffix.lower(), codec(self.encoding)
        if encoding not in (UTF_8, None) and kind != UNCODED:
            options["encoding"] = self.encoding
        reader = getattr(loaded(), READERS[kind])
        return without_quotes(str(path), partial(reader, str(path), output_format="dict", **options), LINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyPart:
    """All rows of a file.

    Args:
        rows: of it and its like.
        path: of the file.
        columns: that are read.
    """

    rows: SurveyRows
    path: Path
    columns: tuple[str, ...]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, a chunk in memory at a time."""
        wanted, start = list(self.columns), 0
        while True:
            values, about = self.rows.read(self.path, usecols=wanted, row_offset=start, row_limit=BATCH_ROWS)
            size = len(values[wanted[0]])
            if size:
                labels = {name: about.variable_value_labels.get(name, {}) for name in wanted if name in self.rows.texts}
                columns = [_column(values[name], labels.get(name, {})) for name in wanted]
                yield pa.RecordBatch.from_arrays(columns, names=wanted)
            if size < BATCH_ROWS:
                return
            start += size


def loaded() -> Any:
    """Return the library that reads these files.

    Raises:
        NotSupported: it is not installed.
    """
    return load("pyreadstat", extra="survey", need="files of Stata, SPSS and SAS need")


def _check_sound(path: Path) -> None:
    """Refuse a file of SPSS whose damaged head ends the process that reads it."""
    if path.suffix.lower() in FRAGILE:
        sound.check(path, READ_HEAD, line=LINE)


def _column(values: Sequence[Any], labels: Labels) -> pa.Array:
    """Return values as they are, or by their labels; a text of nothing is missing."""
    if labels:
        values = [labels.get(value, value) for value in values]
    if all(value is None for value in values):
        return pa.nulls(len(values))  # of any type
    try:
        return pa.array(values, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return objects.column([None if value == "" else value for value in values])
