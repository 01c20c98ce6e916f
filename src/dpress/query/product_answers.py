"""Means, sums, shares and differences from product queries: what all kinds have in common that answer these.

conditions -> product queries -> `answering` -> weighted sums and pairs of counts, with errors.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial

from dpress.core.maps.linear import Array
from dpress.query import table_forms
from dpress.query.answers import Progress, ReleaseAnswers
from dpress.query.linear_forms import Compared, Group
from dpress.query.query_tree import Condition
from dpress.query.release import Release
from dpress.query.table_forms import ProductSums


@dataclass(frozen=True, kw_only=True)
class ProductAnswers(ReleaseAnswers):
    """A base of the answers of kinds that answer weights of cells along every attribute.

    Args:
        release: whose kept counts or records are answered from.
    """

    release: Release

    @abstractmethod
    def answering(self, weights: list[Array], text: str, progress: Progress | None = None) -> ProductSums:
        """Return who answers queries about the attributes that one weighs, and their weighted sums.

        Args:
            weights: one vector for every attribute, shape (cells,); all ones where it does not matter.
            text: of the query.
            progress: called with the number of fits done, where a fitted joint is fitted again.

        Raises:
            ValueError: nothing answers about these attributes together.
        """
        ...

    def group(self, attribute: str, where: Condition | None, progress: Progress | None = None) -> Group:
        """Return weighted sums of one attribute's cells; see `answers.ReleaseAnswers.group`."""
        return table_forms.group(self.release.schema, partial(self.answering, progress=progress), attribute, where)

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Return two counts with their errors; see `answers.ReleaseAnswers.compared`."""
        return table_forms.compared(self.release.schema, partial(self.answering, progress=progress), first, second)
