"""Components and networks as Verilog: one file without linter warnings, and a table of its ports.

``export`` composes the file. ``netlist`` prepares Amaranth's netlist, ``yosys`` translates it, ``network`` connects the
components. ``comment`` and ``document`` write the comment and the tables from ``facts``, ``links`` and ``docstrings``.
``checkers`` writes assertions on links.
"""

from .docstrings import entries
from .document import component_tables
from .export import CHECKED, Export, component_verilog, export, has_clock
from .facts import CROSSING, NETWORK, foreign_options
from .ports import ComponentPort, ports

__all__ = ["CHECKED", "CROSSING", "NETWORK", "ComponentPort", "Export", "component_tables", "component_verilog",
           "entries", "export", "foreign_options", "has_clock", "ports"]
