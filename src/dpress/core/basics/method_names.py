"""How documents name a method, and how its class is called."""

OF_PACKAGE = ":"  # between the name of another package and that of its method


def class_name(file: str) -> str:
    """Return how the class of a method is called, by the name of its file.

    >>> class_name("gtr_top_down")
    'GtrTopDown'
    """
    return "".join(part.capitalize() for part in file.split("_"))
