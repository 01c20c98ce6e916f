"""The budget ledger: append-only entries, their composition, and the file that keeps them."""
