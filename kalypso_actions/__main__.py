"""`python -m kalypso_actions` and the `kalypso` script."""

from kalypso_actions.cli.main import main

if __name__ == "__main__":
    main()
