"""Functions of the package ``wormcast`` and of its commands, and their results.

Most commands have a function here. Such a command parses its options, calls its function or a part of that function,
and prints the result.

- ``planning`` plans multicasts, ``checking`` decides whether schemes can deadlock.
- ``simulation`` runs messages and hunts for deadlocks, ``measurement`` runs load experiments and sweeps.
- ``figures`` measures figures of papers; ``answers`` and ``command_texts`` call functions for a figure's statements.
- ``catalogue`` lists names, ``description`` describes a network, ``event_options`` reads tables of costs.
- ``recordings`` reads waveforms, ``hardware_cost`` exports Verilog and synthesises.
- ``results`` has the base class of all results, ``option_types`` the types of keyword options.
"""
