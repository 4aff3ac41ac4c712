"""Functions of the package ``wormcast``, one for each command, and their results.

A command of the command line parses its options, calls the function of the same name, and prints the result.

- ``planning`` plans multicasts, ``checking`` decides whether schemes can deadlock.
- ``simulation`` runs messages and hunts for deadlocks, ``measurement`` runs load experiments and sweeps.
- ``recordings`` reads waveforms, ``hardware_cost`` exports Verilog and synthesises.
- ``results`` is the base of all results, ``option_types`` lists the options by keyword.
"""
