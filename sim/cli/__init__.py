"""Command line of wormcast. Commands, options, JSON keys and exit codes are a contract with users' scripts.

``commands`` lists the commands. Each command is declared in its own module. ``app`` has the parts that all commands
share: options, output and exit codes.
"""

from .app import main

__all__ = ["main"]
