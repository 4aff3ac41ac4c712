"""Multicast in switched networks, at register-transfer level.

``wormcast.algorithms`` says what to send, ``wormcast.hw`` is what it runs on, ``wormcast.sim`` runs it.
"""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("wormcast")
