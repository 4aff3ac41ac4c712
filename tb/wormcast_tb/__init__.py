"""Library for cocotb benches of components with wormcast's links: drivers, sinks, monitors and a scoreboard.

The library needs only the names and widths of the links' signals. `TB` has clock, reset and a `Scoreboard`.
`LinkDriver` sends worms as credits allow, `LinkSink` receives worms and returns credits, `LinkMonitor` observes a link.
``waits`` has patterns of idling and of back-pressure.
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
