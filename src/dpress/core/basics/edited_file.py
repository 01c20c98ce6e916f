"""What is wrong with a description that this program wrote once: of another format, truncated, or edited."""

from dpress.core.basics.errors import SchemaMismatch


def check_format(stated: object, *expected: int) -> None:
    """Refuse a description of another format than those expected.

    Raises:
        SchemaMismatch: another one is stated.

    >>> check_format(1, 2)
    Traceback (most recent call last):
    dpress.core.basics.errors.SchemaMismatch: format 1 is not known; this version reads format 2
    """
    if stated not in expected:
        read = " and ".join(map(str, expected))
        raise SchemaMismatch(f"format {stated} is not known; this version reads format {read}")


def reason(fault: Exception) -> str:
    """Return what stands behind the name of a file that cannot be read; only our own refusals speak for themselves.

    >>> reason(SchemaMismatch("`claim` is missing")), reason(KeyError("format"))
    (': `claim` is missing', ' is truncated or was edited')
    """
    return f": {fault}" if isinstance(fault, SchemaMismatch) else " is truncated or was edited"
