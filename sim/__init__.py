"""Running it: network composition, engines, host programs, experiments, command line."""

if __name__ != "wormcast.sim":
    raise ImportError(f"import this package as wormcast.sim, not as {__name__}")
