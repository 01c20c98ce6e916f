"""Files of reports: written, found, and read in pieces, each id once."""
