"""The command ``wormcast``. Its names are a contract: scripts outside this project rely on them.

``commands`` lists the commands, each of which is declared in a file of its own; ``app`` has what they share: options,
output, exit codes.
"""

from .app import main

__all__ = ["main"]
