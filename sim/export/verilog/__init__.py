"""Components and networks as Verilog: one file without linter warnings, and a table of its ports.

``export`` composes the file. ``netlist`` prepares Amaranth's netlist, ``yosys`` translates it, ``network`` connects the
components. ``comment`` and ``document`` write the comment and the tables from ``facts``, ``links`` and ``docstrings``.
"""

from .docstrings import entries
from .document import component_tables
from .export import Export, component_verilog, export, has_clock
from .facts import NETWORK, foreign_options
from .netlist import is_clocked
from .ports import ComponentPort, ports

__all__ = ["NETWORK", "ComponentPort", "Export", "component_tables", "component_verilog", "entries", "export",
           "foreign_options", "has_clock", "is_clocked", "ports"]
