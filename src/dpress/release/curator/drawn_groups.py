"""What was drawn of groups about which something had to be found first: the design that is known from then on."""

from dataclasses import dataclass

from dpress.core.maps.measurement import Measurement
from dpress.document.design import Design
from dpress.mechanisms.discovery.second_step import SecondStep


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnGroups:
    """What was drawn of groups that were not wholly known before.

    Args:
        design: completed by what was found.
        mechanism: that it describes.
        measurement: of the groups.
    """

    design: Design
    mechanism: SecondStep
    measurement: Measurement
