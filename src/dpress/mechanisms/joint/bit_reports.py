"""What devices may be asked to send for the document's estimators: the parameters that they share."""

from typing import Annotated, Literal

from msgspec import Meta

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
        Annotated[int, Meta(ge=1, description='of every Bloom filter, with reports = "rappor"; 2 unless stated')] | None
    ) = None
