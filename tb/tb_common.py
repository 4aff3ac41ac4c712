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
    there. A worm may also have ``at``, the first cycle in which it may be sent.
    """
    for worm in worms:
        tb.drivers[worm["link"]].send(worm["flits"], worm["vc"], at=worm.get("at", 0))
        for end, flits in worm["copies"]:
            tb.scoreboard.expect(end, flits)


class CopyingTB(TB):
    """Bench of a router of a multistage network that replicates worms.

    All links of the router join it to other routers. In the setup, ``inputs`` and ``outputs`` list the prefixes of the
    router's links. ``depth`` is the depth of every buffer in flits, and ``chunk`` the number of flits for each credit.
    ``masks`` has the bits of the nodes behind each output, for each header flit. ``reports`` is true if arrivals are
    reported. Each of the ``worms`` to send has a link, a virtual channel and flits. ``straps`` has the values of the
    static inputs, and ``header_flits`` is the number of header flits of each worm. ``faults`` has the bit widths of
    cause, port and virtual channel in each fault output.
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
    """Return cause, port and virtual channel of each component's first error, by the component's fault output.

    In the setup, ``faults`` has the widths of cause, port and virtual channel, by fault output.
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
