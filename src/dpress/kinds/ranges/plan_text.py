"""What a plan of this kind says to people."""

from dpress.kinds.ranges.grids import grids_of
from dpress.kinds.ranges.tiles import tiled
from dpress.release.plan.candidate import UNIT
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Offer, PlanText, PlanWords, tables

GRIDS = "ranges of one attribute and boxes of two, all values equally frequent but for what tiles that are cut may hide"

ROUNDS = "ranges after the last round, all values equally frequent"


def text(planned: Plan) -> PlanText:
    """Return the text of a plan; of grids with what is supposed of tiles, of rounds with how many there are."""
    grown = tiled(planned.chosen.mechanism)
    if grown is not None and grown.rounds:
        made = tables(planned, even=ROUNDS)
        intervals = f"{grown.tile_starts([0])[0].size - 1} intervals of cells"
        made.remarks.append(
            f"{len(grown.rounds)} rounds, each device in one. The first asks about {intervals}; later ones halve those "
            "where people are. Where few cells hold many people the error is smaller than predicted."
        )
        return made
    if (grids := grids_of(planned.chosen.mechanism)) is None:
        return tables(planned)
    made = tables(planned, even=GRIDS)
    named = zip(planned.spec.schema.names, grids.fine, grids.coarse, strict=True)
    tiles = ", ".join(f"{name} {fine} ({coarse} beside another)" for name, fine, coarse in named)
    made.remarks.append(f"Tiles along the attributes: {tiles}.")
    return made


def instead(planned: Plan) -> Offer | None:
    """Return the ranges that also answer for cells."""
    counts = planned.spec.privacy.model == "central" and planned.choice.unit == UNIT
    return Offer(kind="ranges") if counts else None


WORDS = PlanWords(text=text, instead=instead)
