"""`python -m runwire` is the `runwire` command."""

import sys

from runwire.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
