"""`python -m kalypso_actions` and the `kalypso` script."""

from __future__ import annotations

import sys
from typing import NoReturn

from kalypso_actions import __version__


def main() -> NoReturn:
    """Run the command that the arguments name, and exit.

    The actions ask which version is installed; the answer needs no library.
    """
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"{__version__}\n")
        sys.exit(0)
    from kalypso_actions.cli.main import main as run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()
