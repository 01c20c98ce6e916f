"""What every page shows, whatever the kind of release: the facts that `page.html.j2` names.

Data flow: facts -> names and values.
"""

import importlib.metadata
from typing import Any

from dpress.data.specification.toml import as_toml
from dpress.reporting import figures, page_tables
from dpress.reporting.collected import collected
from dpress.reporting.facts import Facts
from dpress.reporting.headline import headline
from dpress.reporting.period_words import during
from dpress.reporting.promise import promise
from dpress.reporting.rounding import loss


def frame(facts: Facts) -> dict[str, Any]:
    """Return the facts of the page's frame; a room adds those of its own blocks."""
    promised = promise(facts)
    return {
        "opening": (),
        "shown_as": (),
        "named": False,
        "model": facts.model,
        "noun": facts.noun,
        "kind": facts.kind,
        "names": [attribute.caption for attribute in headline(facts)],
        "texts": facts.texts,
        "during": during(facts.schema),
        "where": facts.where,
        "of_two_tables": facts.whom,
        "csv_files": facts.csv_files,
        "created": facts.created,
        "unit": facts.claim.unit,
        "promise": promised,
        "beliefs": figures.beliefs_figure(promised.beliefs) if promised.beliefs else None,
        "collection": collected(facts) if facts.model == "local" else None,
        "attributes": page_tables.attributes(facts.schema, facts.model),
        "charged": loss(facts.charged),
        "ledger_head": facts.ledger_head,
        "toml": as_toml(facts.specification),
        "spec_hash": facts.specification_hash,
        "version": importlib.metadata.version("dpress"),
    }
