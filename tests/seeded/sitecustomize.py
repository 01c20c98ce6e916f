"""Read by every Python that a test starts with this folder on its path: it draws from the test's stream."""

import os

from seeded_stream import SEED, Stream, turn

if SEED in os.environ:
    os.urandom = Stream(f"{os.environ[SEED]}{turn()}")
