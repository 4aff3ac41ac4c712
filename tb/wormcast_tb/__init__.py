"""Benches for components with wormcast's links, in cocotb: drive them, take and check what they send.

Knows signals by their names and widths, and nothing of how the design was made. `TB` has clock, reset and a
`Scoreboard`; `LinkDriver` sends worms as credits allow, `LinkSink` takes them and gives credits back, `LinkMonitor`
watches a link; ``waits`` has patterns of idling and of back-pressure.
"""

from . import waits
from .bench import TB
from .driver import LinkDriver
from .flits import Flit, Worm, make_worm
from .link import Agent, Link, ProtocolError
from .monitor import LinkMonitor
from .scoreboard import Scoreboard
from .sink import LinkSink

__all__ = ["TB", "Agent", "Flit", "Link", "LinkDriver", "LinkMonitor", "LinkSink", "ProtocolError", "Scoreboard",
           "Worm", "make_worm", "waits"]
