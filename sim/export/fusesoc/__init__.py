"""Library for FuseSoC: a generator that exports hardware, and a network as an example.

This folder, ``wormcast.sim.export.fusesoc.__path__[0]``, is the argument of ``fusesoc library add``. ``generator.core``
declares the generator ``wormcast``, which runs ``generate.py``. ``network.core`` is a network with two sets of
parameters, each with a bench in C++.
"""

__all__: list[str] = []
