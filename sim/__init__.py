"""Running it: network composition, engines, host programs, experiments, command line."""

if __name__ != "wormcast.sim":
    raise ImportError(f"import this package as wormcast.sim, not as {__name__}")

from .configuration import Configuration
from .host import Message
from .load import Load, Trace, Traffic, load
from .network import Network
from .run import Run, run

__all__ = ["Configuration", "Load", "Message", "Network", "Run", "Trace", "Traffic", "load", "run"]
