"""Timing constraints of a component or network, in SDC (Synopsys Design Constraints)."""

from collections.abc import Iterable, Iterator

__all__ = ["constraints", "crossing_constraints"]

#: Clock period in the file, in ns, which users replace by the period of their design.
PERIOD = 10.0


def crossing_constraints(module: str, *, command: str, domains: Iterable[str]) -> str:
    """Return the text of an SDC file for a link between two clock domains: clocks, paths between them, resets.

    Parameters
    ----------
    module, command
        As in `constraints`.
    domains : iterable of str
        Prefixes of the names of the two clocks and resets.
    """
    one, other = domains
    lines = [f"# Constraints of {module}, made by wormcast with the Verilog of", f"#   {command}", "",
             "# Unit: ns. Replace the periods by those of your clocks."]
    for domain in (one, other):
        lines += [f"set {domain}period {PERIOD}",
                  f"create_clock -name {domain}clk -period ${domain}period [get_ports {domain}clk]"]
    lines += ["", "# The clocks have no relation. A word of a Gray counter arrives within a period, so that its bits",
              "# are those of two neighbouring values at most."]
    for source, target in ((one, other), (other, one)):
        between = f"-from [get_clocks {source}clk] -to [get_clocks {target}clk]"
        lines += [f"set_max_delay {between} ${source}period", f"set_false_path -hold {between}"]
    lines += ["", "# Each reset rises at any time, and falls in step with its own clock."]
    for domain, far in ((one, other), (other, one)):
        port = f"[get_ports {domain}rst]"
        lines += [f"set_input_delay 0 -clock {domain}clk {port}", f"set_false_path -rise_from {port}",
                  f"set_false_path -from {port} -to [get_clocks {far}clk]"]
    return "".join(f"{line}\n" for line in lines)


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
        yield from ("# rst rises at any time. rst falls in step with clk, so its fall is timed.",
                    "set_input_delay 0 -clock clk [get_ports rst]", "set_false_path -rise_from [get_ports rst]")
    else:
        yield "# rst is synchronous: it is timed like the other inputs."
    listed = [f"{name}[*]" if width > 1 else name for name, width in straps]
    if listed:
        yield from ("", "# Static inputs: they are constant while the component runs.",
                    *(f"set_false_path -from [get_ports {{{name}}}]" for name in listed))
