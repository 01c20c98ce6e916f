"""What a process of the service counts about itself, for `/metrics`."""

from collections import Counter
from dataclasses import dataclass, field

from dpress.service.histogram import Histogram
from dpress.service.outages import Outages


@dataclass(frozen=True, slots=True)
class Measures:
    """What a process of the service counts beside the store.

    Args:
        uploads: how long uploads take, from the head of the request to the answer, whichever it is.
        refused: whole uploads that were refused, by status and what such a refusal is called.
        outages: what failed.
    """

    outages: Outages
    uploads: Histogram = field(default_factory=Histogram)
    refused: Counter[tuple[int, str]] = field(default_factory=Counter)
