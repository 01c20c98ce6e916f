"""The values of `nasty_values.py` are for several files of tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
