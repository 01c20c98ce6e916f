"""As many records as is public, from a table that may have more or fewer: what fixes the number of released rows.

For both neighbour relations two neighbouring tables become two with `users` records, of which as many are replaced as
one unit has rows: a record that is missing is a filler in its place, and of too many a random subset is kept. (Give
every row, and then every filler, an independent random key and keep the `users` smallest in that order: with the same
keys the kept records of D and D' differ in one for one row added, removed or replaced.)
"""

import numpy as np

from dpress.core.basics.rng import Generator
from dpress.core.methods.people import Codes
from dpress.mechanisms.microdata.record_sampling import shuffled


def exactly(codes: Codes, users: int, *, rng: Generator) -> Codes:
    """Return `users` records in random order, shape (attributes, users).

    Args:
        codes: of the rows, shape (attributes, rows).
        users: public; missing records are those of the first cells.
        rng: a secure generator.
    """
    rows = codes.shape[1]
    kept = codes[:, shuffled(rows, rng=rng)[:users]]
    full = np.pad(kept, ((0, 0), (0, users - kept.shape[1])))
    return np.asarray(full[:, shuffled(users, rng=rng)])
