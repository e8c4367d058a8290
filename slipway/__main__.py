"""`python -m slipway`: the command, where the script of the same name is not on PATH."""

import sys

from slipway.cli import main

if __name__ == "__main__":
    sys.exit(main())
