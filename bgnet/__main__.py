"""`python -m bgnet` is the `bgnet` command."""

from bgnet.cli import main

if __name__ == "__main__":
    main()
