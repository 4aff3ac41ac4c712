"""Command line: ``python -m tools.reference FOLDER`` in the repository's folder writes the site's pages for Sphinx."""

import sys
from pathlib import Path

from wormcast.algorithms import WormcastError

from .site import assemble

if len(sys.argv) != 2:
    sys.exit("usage: python -m tools.reference FOLDER")
try:
    assemble(Path.cwd(), Path(sys.argv[1]))
except WormcastError as error:
    sys.exit(f"wormcast: {error}")
