"""`python -m dpress` is the command `dpress`."""

from dpress.cli.main import main

if __name__ == "__main__":
    main()
