"""What answers say where one table of one attribute is all that is published."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dpress.query.answers import Progress, ReleaseAnswers
from dpress.query.published_tables import PublishedTable
from dpress.query.release import Release
from dpress.query.released_file import Part
from dpress.query.table_files import table_files


@dataclass(frozen=True, kw_only=True)
class OneTable(ReleaseAnswers):
    """Answers with one table; what a kind adds is `published`, which yields it.

    Args:
        release: whose kept integers are answered from.
    """

    release: Release

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The one table."""
        return {only_file(self.release): self.release.schema.names}

    def published(self) -> Iterator[PublishedTable]:
        """Yield the table."""
        raise NotImplementedError

    def overview(self, cells: int) -> Iterator[PublishedTable]:
        """Yield the table where it is small enough."""
        yield from (table for table in self.published() if table.count.size <= cells)

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the table."""
        del progress
        yield from self.published()

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield the table with the name of its attribute."""
        for table in self.published():
            yield self.release.schema.names, table


def only_file(release: Release) -> str:
    """Return the file of the only table of a release, which holds all of its attributes."""
    (file,) = table_files(release.format, [release.schema.names])
    return file
