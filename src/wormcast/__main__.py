"""``python -m wormcast``."""

from wormcast.sim.cli import main

main()
