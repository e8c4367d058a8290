"""`python -m slipway`: the same command, for when the `slipway` script is not on PATH."""

import sys

from slipway.cli import main

if __name__ == "__main__":
    sys.exit(main())
