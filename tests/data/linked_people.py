"""Made-up households with persons, and what a reader who knows nothing of dpress makes of them."""

import numpy as np
import pyarrow as pa

from dpress.core.basics import rng

MOST = 3
ABOVE = {
    "name": "households",
    "key": "hhid",
    "derived": {
        "size": "count",
        "children": "count where age < 16",
        "earned": "sum pay where age >= 16",
        "eldest": "first age",
        "heir": "first age where age < 16",
    },
}
BELOW = {"name": "persons", "key": "hhid", "of": "households", "most": MOST, "order": ["role = head", "-age"]}
ATTRIBUTES = [
    {"name": "region", "kind": "categorical", "values": ["north", "south"]},
    {"name": "role", "kind": "categorical", "values": ["head", "other"]},
    {"name": "age", "kind": "integer", "bounds": [0, 80]},
    {"name": "pay", "kind": "integer", "bounds": [0, 9]},
    {"name": "size", "kind": "integer", "bounds": [0, MOST]},
    {"name": "children", "kind": "integer", "bounds": [0, MOST]},
    {"name": "earned", "kind": "integer", "bounds": [0, 9 * MOST]},
    {"name": "eldest", "kind": "integer", "bounds": [0, 80], "null": "nobody"},
    {"name": "heir", "kind": "integer", "bounds": [0, 15], "null": "nobody"},
]


def numbers(words, below):
    return (words % np.uint64(below)).astype(np.int64)


def households(number=40, *, seed=1):
    """Return rows above and below as lists of dicts: some households have nobody, some more than MOST."""
    words = rng.seeded(seed).words
    above = [{"hhid": 10 * k, "region": ["north", "south"][k % 2]} for k in range(number)]
    sizes = numbers(words(number), MOST + 3)
    below = [
        {"hhid": 10 * k, "role": "head" if j == sizes[k] - 1 else "other", "age": int(age), "pay": int(pay)}
        for k in range(number)
        for j, (age, pay) in enumerate(zip(numbers(words(sizes[k]), 81), numbers(words(sizes[k]), 14), strict=True))
    ]
    order = np.argsort(words(len(below)))
    return above, [below[place] for place in order]


def table(rows, names=None):
    """Return rows as a table."""
    names = names or list(rows[0])
    return pa.table({name: [row[name] for row in rows] for name in names})


def tables(above, below):
    """Return both tables by their names."""
    return {"households": table(above), "persons": table(below, ["hhid", "role", "age", "pay"])}


def counted(below, hhid, most=MOST):
    """Return a household's persons that count, in order, as a loop over rows has them."""
    persons = [row for row in below if row["hhid"] == hhid]
    return sorted(persons, key=lambda row: (row["role"] != "head", -row["age"]))[:most]


def household_rows(above, below):
    """Return the rows of households, as a loop has them."""
    rows = []
    for house in above:
        persons = counted(below, house["hhid"])
        ages = [row["age"] for row in persons]
        rows.append(
            {
                "region": house["region"],
                "size": len(persons),
                "children": sum(age < 16 for age in ages),
                "earned": sum(min(row["pay"], 9) for row in persons if row["age"] >= 16),
                "eldest": ages[0] if ages else None,
                "heir": next((age for age in ages if age < 16), None),
            }
        )
    return rows
