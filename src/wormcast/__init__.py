"""Multicast in switched networks, at register-transfer level.

``wormcast.algorithms`` plans multicasts, ``wormcast.hw`` contains routers and interfaces, ``wormcast.sim`` simulates
them.
"""

__all__ = ["__version__"]

__version__: str


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    globals()[name] = version("wormcast")
    return __version__
