"""Shared parts of the benches: setup, patterns of waiting, routers of multistage networks."""

import functools
import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import cocotb

from wormcast_tb import TB, waits

__all__ = ["PATTERNS", "CopyingTB", "all_pass", "cross", "faults", "given", "post"]

#: Patterns of waiting by name. Each takes a seed.
PATTERNS = {
    "never": lambda seed: waits.never(),
    "half": lambda seed: waits.sometimes(0.5, seed),
    "mostly": lambda seed: waits.sometimes(0.85, seed),
    "bursts": lambda seed: waits.in_turns(7 + seed % 5, 11),
}


@functools.cache
def given():
    """Return the setup of the bench, a JSON object in ``+setup=FILE``, as attributes."""
    return SimpleNamespace(**json.loads(Path(cocotb.plusargs["setup"]).read_text()))


def cross(test):
    """Run a test with each of two patterns of idling combined with each of three patterns of back-pressure."""
    return cocotb.parametrize(idle=["never", "half"], pressure=["never", "mostly", "bursts"])(test)


def post(tb, worms):
    """Send worms, and expect their copies.

    A worm is ``{"link", "vc", "flits", "copies"}``. ``copies`` are pairs of an end and the flits that must arrive
    there. Optional: ``at``, the first cycle in which the worm may be sent.
    """
    for worm in worms:
        tb.drivers[worm["link"]].send(worm["flits"], worm["vc"], at=worm.get("at", 0))
        for end, flits in worm["copies"]:
            tb.scoreboard.expect(end, flits)


class CopyingTB(TB):
    """Bench of a router of a multistage network that replicates worms. All links are to and from other routers.

    Setup: ``inputs``, ``outputs`` (prefixes of its links), ``depth`` of all buffers and ``chunk`` (flits for each
    credit), ``masks`` (bits of the nodes behind each output, for each header flit), ``straps``, ``header_flits``,
    ``reports`` (true: arrivals are reported), ``faults``, ``worms`` to send (link, virtual channel, flits).
    """

    def __init__(self, dut):
        super().__init__(dut)
        setup = given()
        for prefix in setup.inputs:
            self.driver(prefix, depth=setup.depth, chunk=setup.chunk)
        for prefix in setup.outputs:
            self.sink(prefix, depth=setup.depth, chunk=setup.chunk)
        for name, value in setup.straps.items():
            getattr(dut, name).value = value

    def send(self, worm):
        """Send a worm, expect its branches, and return their number."""
        self.drivers[worm["link"]].send(worm["flits"], worm["vc"], at=worm.get("at", 0))
        return self.scoreboard.expect_copies(worm["flits"], given().masks, reports=given().reports)

    def post(self, worms):
        """Send worms, and expect their branches."""
        for worm in worms:
            self.send(worm)


def faults(dut):
    """Return the first error of each component of the design by output: cause, port and virtual channel.

    Setup: ``faults``, the widths of cause, port and virtual channel by output.
    """
    found = {}
    for name, widths in given().faults.items():
        bits = int(getattr(dut, name).value)
        if bits:
            at = itertools.accumulate([0, *widths])
            found[name] = [bits >> first & (1 << width) - 1 for first, width in zip(at, widths, strict=False)]
    return found


async def all_pass(tb, idle, pressure, send=post):
    """Send the setup's worms with patterns of idling and back-pressure, and check that all arrive, without a fault."""
    tb.wait_by(idle=PATTERNS[idle], pressure=PATTERNS[pressure])
    await tb.reset()
    send(tb, given().worms)
    await tb.finish()
    assert faults(tb.dut) == {}
