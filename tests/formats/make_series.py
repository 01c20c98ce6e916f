"""Stores one series of every counter in `stored_series`, with what it answers; a stored one is never written again.

python tests/formats/make_series.py
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # where it runs as a program

from tests.release.periods.months import MONTHS, published, spec

STORED = Path(__file__).with_name("stored_series")
COUNTERS = ("separate", "tree", "smooth")
QUERIES = ("visited in 2024-02..2024-03 and ward = eyes", "ward = hearts")

if __name__ == "__main__":
    for counter in COUNTERS:
        place = STORED / counter
        if not place.exists():
            series = published(place / "series", spec(counter), MONTHS[:4])
            found = {text: [one.value, one.standard_error] for text in QUERIES for one in [series.query(text)]}
            (place / "answers.json").write_text(json.dumps(found, indent=1) + "\n")
