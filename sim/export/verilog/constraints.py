"""Timing constraints of a component or network, in SDC (Synopsys Design Constraints)."""

from collections.abc import Iterable, Iterator

__all__ = ["constraints"]

#: Clock period in the file, in ns; a design has its own.
PERIOD = 10.0


def constraints(module: str, *, command: str, reset: str, straps: Iterable[tuple[str, int]]) -> str:
    """Return the text of an SDC file: the clock, paths from static inputs, and the reset.

    Parameters
    ----------
    module : str
        Name of the top module.
    command : str
        Command that writes the Verilog.
    reset : "sync" or "async"
    straps : iterable of (str, int)
        Names and widths of the static inputs.
    """
    return "".join(f"{line}\n" for line in _lines(module, command, reset, straps))


def _lines(module: str, command: str, reset: str, straps: Iterable[tuple[str, int]]) -> Iterator[str]:
    yield from (f"# Constraints of {module}, made by wormcast with the Verilog of", f"#   {command}", "",
                "# Unit: ns. Replace the period by that of your clock.", f"set period {PERIOD}",
                "create_clock -name clk -period $period [get_ports clk]", "")
    if reset == "async":
        yield from ("# rst rises at any time. It falls in step with clk, so its fall is timed.",
                    "set_input_delay 0 -clock clk [get_ports rst]", "set_false_path -rise_from [get_ports rst]")
    else:
        yield "# rst is synchronous: it is timed like the other inputs."
    listed = [f"{name}[*]" if width > 1 else name for name, width in straps]
    if listed:
        yield from ("", "# Static inputs: they are constant while the component runs.",
                    *(f"set_false_path -from [get_ports {{{name}}}]" for name in listed))
