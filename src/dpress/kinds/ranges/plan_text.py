"""What a plan of this kind says to people."""

import math
from collections.abc import Iterator
from typing import cast

from dpress.core.maps.workload import Boxes
from dpress.inference.postprocess import answers
from dpress.kinds.ranges.grids import grids_of, sample
from dpress.kinds.ranges.kind import Ranges
from dpress.kinds.ranges.tiles import tiled
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.protocol.collection import method_of
from dpress.mechanisms.ranges.ahead_tree import ahead_tree
from dpress.mechanisms.ranges.level_tree import LevelTree
from dpress.release.plan import collections
from dpress.release.plan.adjustments import adjustments
from dpress.release.plan.candidate import UNIT
from dpress.release.plan.parameter_checks import of_kind
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Offer, PlanText, PlanWords, tables

BELL = "people in a bell an eighth of the cells wide"
GRIDS = f"ranges of one attribute and boxes of two, all values equally frequent but in tiles that are cut, for {BELL}"

ROUNDS = f"ranges after the last round, {BELL}"

VALUE = (
    "These errors are of unbiased answers. The value of an answer is of counts >= 0, which err less, by far where "
    "people are few"
)
USERS = "`users` in [release.parameters] says how many there are, and takes the method for that"


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
        made = tables(planned)
        made.remarks.extend([*_likely(planned), *_in_rounds(planned)])
        return made
    made = tables(planned, even=GRIDS)
    named = zip(planned.spec.schema.names, grids.fine, grids.coarse, strict=True)
    tiles = ", ".join(f"{name} {fine} ({coarse} beside another)" for name, fine, coarse in named)
    made.remarks.append(f"Tiles along the attributes: {tiles}.")
    return made


def _in_rounds(planned: Plan) -> Iterator[str]:
    """Yield what asking in rounds would give in place of once, where it errs less for people in a bell."""
    boxes, attribute = planned.choice.workload, planned.spec.schema.tabular[0]
    if planned.chosen.collection is None or not isinstance(boxes, Boxes) or attribute.ordered < attribute.size:
        return
    tree = ahead_tree(attribute.size, collections.share(planned.spec, "users"))
    error = tree.range_error(planned.choice.users, *sample(boxes))
    if error < planned.chosen.predicted_error:
        rounds = len(tree.levels)
        yield (
            f"In {rounds} rounds (`rounds = {rounds}`), each device in one, ranges would err by +- "
            f"{math.sqrt(error):,.1f} for {BELL}."
        )


def _likely(planned: Plan) -> Iterator[str]:
    """Yield what a plan says of adjusted counts, where they answer."""
    spec, boxes, chosen = planned.spec, cast("Boxes", planned.choice.workload), planned.chosen.mechanism
    if not answers(adjustments(spec, chosen)):
        return
    from dpress.kinds.ranges import few_people  # noqa: PLC0415  # simulates, which few plans need

    users, local = planned.choice.users, spec.privacy.model == "local"
    if not few_people.serves(boxes):
        yield f"{VALUE}."
    elif not local and of_kind(spec, Ranges).users is None:
        yield f"{VALUE}; {USERS}."
    else:
        if local:
            squared = few_people.likely_error_of_reports(cast("LevelTree", method_of(chosen)), boxes, users)
        else:
            squared = few_people.likely_error(cast("MatrixMechanism", chosen), boxes, users)
        likely = f"Of {users:,} people the value, of counts >= 0, is likely to err by +- {math.sqrt(squared):,.1f}"
        yield f"These errors are of unbiased answers. {likely}, simulated for made-up people."


def instead(planned: Plan) -> Offer | None:
    """Return the ranges that also answer for cells."""
    counts = planned.spec.privacy.model == "central" and planned.choice.unit == UNIT
    return Offer(kind="ranges") if counts else None


WORDS = PlanWords(text=text, instead=instead)
