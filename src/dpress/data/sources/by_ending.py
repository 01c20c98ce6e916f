"""Which source reads files of which ending: the table of those that are read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dpress.attributes.attribute import Tabular
from dpress.data.sources.arrow_rows import ARROW, ArrowRows
from dpress.data.sources.parquet_rows import PARQUET, ParquetRows
from dpress.data.sources.sql_text import Values
from dpress.data.sources.survey_rows import SURVEYS, SurveyRows
from dpress.data.sources.text_rows import TextFile, TextRows
from dpress.data.sources.workbook_rows import WORKBOOKS, Sheet, WorkbookRows
from dpress.data.specification.file_format import SEPARATORS, FileFormat

Files = tuple[Path, ...]
FileSource = ArrowRows | ParquetRows | SurveyRows | TextRows | WorkbookRows  # each part has the `path` of its file


@dataclass(frozen=True, slots=True)
class Written:
    """How files are written, as far as they do not say it themselves.

    Args:
        format: of text.
        attributes: that will be read.
        sheet: of workbooks; empty for the first.
    """

    format: FileFormat
    attributes: tuple[Tabular, ...]
    sheet: str

    @property
    def texts(self) -> frozenset[str]:
        """The columns whose listed values are texts."""
        return frozenset(attribute.read_from for attribute in self.attributes if attribute.reads == "text")

    @property
    def times(self) -> frozenset[str]:
        """The columns whose values are dates or times."""
        return frozenset(attribute.read_from for attribute in self.attributes if attribute.reads == "time")

    @property
    def values(self) -> Values:
        """How the values of a file of text are read."""
        return Values(
            format=self.format,
            numbers=frozenset(attribute.read_from for attribute in self.attributes if attribute.reads == "number"),
            dates=self.texts if self.format.date_format else frozenset(),
            times=self.times,
        )


def _parquet(files: Files, label: str, written: Written) -> FileSource:
    del written
    return ParquetRows(files=files, name=label)


def _arrow(files: Files, label: str, written: Written) -> FileSource:
    del written
    return ArrowRows(files=files, name=label)


def _text(files: Files, label: str, written: Written) -> FileSource:
    return TextRows(files=tuple(TextFile(path=path, values=written.values) for path in files), name=label)


def _workbook(files: Files, label: str, written: Written) -> FileSource:
    sheets = tuple(Sheet(path=path, sheet=written.sheet, format=written.format) for path in files)
    return WorkbookRows(sheets=sheets, name=label)


def _survey(files: Files, label: str, written: Written) -> FileSource:
    return SurveyRows(files=files, name=label, texts=written.texts, encoding=written.format.encoding)


FILES: Mapping[str, Callable[[Files, str, Written], FileSource]] = {
    **dict.fromkeys(SEPARATORS, _text),
    PARQUET: _parquet,
    **dict.fromkeys(ARROW, _arrow),
    **dict.fromkeys(WORKBOOKS, _workbook),
    **dict.fromkeys(SURVEYS, _survey),
}
