"""`python -m csmd_core`: the core from the command line."""

import sys

from csmd_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
