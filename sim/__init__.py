"""Running it: network composition, engines, host programs, experiments, command line."""

import warnings

from amaranth.hdl import UnusedElaboratable

if __name__ != "wormcast.sim":
    raise ImportError(f"import this package as wormcast.sim, not as {__name__}")

# a kernel that is found on disk needs the component's ports, and never elaborates it
warnings.filterwarnings("ignore", category=UnusedElaboratable)
