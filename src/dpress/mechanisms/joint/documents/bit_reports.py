"""The parameters of the document's estimators: what devices are asked to send, and LASSO's penalty."""

from typing import Annotated, Literal

from msgspec import Meta

from dpress.mechanisms.oracle.bloom_filters import MOST_HASHES
from dpress.mechanisms.oracle.longitudinal import Rates


class BitReports(Rates, frozen=True):
    """One-hot strings or Bloom filters."""

    reports: (
        Annotated[
            Literal["rr_ldp", "rappor"],
            Meta(
                description="what a device sends of every attribute: a one-hot string, or a Bloom filter of one "
                'cohort; "rr_ldp" unless stated'
            ),
        ]
        | None
    ) = None
    bits: (
        Annotated[int, Meta(ge=1, description='of every Bloom filter, with reports = "rappor"; 128 unless stated')]
        | None
    ) = None
    hashes: (
        Annotated[
            int,
            Meta(ge=1, le=MOST_HASHES, description='of every Bloom filter, with reports = "rappor"; 2 unless stated'),
        ]
        | None
    ) = None


class PenalisedReports(BitReports, frozen=True):
    """With LASSO's penalty."""

    penalty: (
        Annotated[
            float,
            Meta(
                gt=0,
                description="of LASSO, in standard deviations of what noise alone gives the correlation with a cell's "
                "codes; a larger one takes more off the shares; 1 unless stated",
            ),
        ]
        | None
    ) = None
