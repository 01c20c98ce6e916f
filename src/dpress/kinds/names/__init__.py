"""Names that nobody may list: those that occur often, with their counts, and the rest."""
