"""Components and networks as Verilog: one file that linters have nothing to say about, and a table of its ports.

``export`` puts it together: ``netlist`` is Amaranth's, made ready; ``yosys`` translates it; ``network`` joins
components; ``comment`` and ``document`` tell what ``facts``, ``links`` and ``docstrings`` know.
"""

from .docstrings import entries
from .document import component_tables
from .export import Export, component_verilog, export, has_clock
from .facts import NETWORK, foreign_options
from .netlist import is_clocked
from .ports import ComponentPort, ports

__all__ = ["NETWORK", "ComponentPort", "Export", "component_tables", "component_verilog", "entries", "export",
           "foreign_options", "has_clock", "is_clocked", "ports"]
