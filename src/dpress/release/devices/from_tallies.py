"""From the tallies of a collection's reports to its release: of all reports, or of those that are there so far."""

from collections.abc import Callable, Mapping

from dpress import catalog
from dpress.core.basics.clock import now
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.reports.wire import OTHER_ASK
from dpress.data.add_up import Counts
from dpress.document.design import Design
from dpress.mechanisms.protocol.collection import Collection
from dpress.query.answers import KeptAnswers
from dpress.query.designs import charge
from dpress.query.release import Release, with_typical

EDITED = "estimate with the design that the devices were sent: one that was edited since asks something else"


def released(
    design: Design,
    collection: Collection,
    tallies: list[Counts],
    rejected: Mapping[str, int],
    kept: Callable[[Collection, list[Counts]], KeptAnswers],
    *,
    private: bool,
) -> Release:
    """Return the release that tallies give.

    Args:
        design: of the collection.
        collection: that the design describes.
        tallies: of every report type.
        rejected: how many reports were left out, by reason.
        kept: what the release keeps of the tallies: the kind's `collected` or `tallied` (`query.answering`).
        private: False where a seeded generator drew the coins.

    Raises:
        SchemaMismatch: there are no reports, none that counts, or none about some attribute, pair of attributes
            or the cells themselves.
    """
    took_part = collection.counted(tallies)
    _check_answered(design, took_part, tallies, rejected)
    answers = kept(took_part, tallies)
    predicted = catalog.room(design.kind).answering.predicted(took_part, design.queries.workload(design.schema.shape))
    made = Release(
        design=design,
        kept=answers.answers,
        detail=answers.detail,
        charged=charge(collection, design.method, allow_unproven=True),
        private=private,
        created=now(),
        predicted=design.prediction.error if predicted is None else predicted,
        rejected=dict(rejected),
    )
    return with_typical(made)


def _check_answered(design: Design, collection: Collection, tallies: list[Counts], rejected: Mapping[str, int]) -> None:
    """Refuse reports that leave a published table unanswered, with the cause first.

    Raises:
        SchemaMismatch: there are no reports, none that counts, or none about some attribute, pair of attributes
            or the cells themselves.
    """
    why = "; ".join(f"{count:,} left out: {reason}" for reason, count in sorted(rejected.items()))
    if not any(tally[-1] for tally in tallies):
        if not rejected:
            raise SchemaMismatch("there are no reports of this collection")
        edited = f"; {EDITED}" if OTHER_ASK in rejected else ""
        raise SchemaMismatch(
            f"none of the {sum(rejected.values()):,} reports belongs to this collection ({why}){edited}"
        )
    pairs = zip(collection.types, tallies, strict=True)
    answered = [set(report_type.axes) for report_type, tally in pairs if tally[-1]]
    for axes in collection.decoder.tables:
        if not any(set(axes) <= axes_answered for axes_answered in answered):
            names = " and ".join(repr(design.schema.names[axis]) for axis in axes)
            raise SchemaMismatch(f"no report is about {names}" + (f" ({why})" if why else ""))
    try:
        collection.estimator.check_answered(tallies)
    except ValueError as fault:
        raise SchemaMismatch(str(fault) + (f" ({why})" if why else "")) from None
    if missing := collection.estimator.unanswered(tallies):
        names = " and ".join(repr(design.schema.names[axis]) for axis in missing[0])
        raise SchemaMismatch(f"no report is about {names} alone" + (f" ({why})" if why else ""))
