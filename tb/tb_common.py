"""What all benches share: what they are told, and patterns of waiting."""

import functools
import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import cocotb

from wormcast_tb import TB, waits

__all__ = ["PATTERNS", "CopyingTB", "all_pass", "cross", "faults", "given", "post"]

#: Patterns of waiting by name, made from a seed.
PATTERNS = {
    "never": lambda seed: waits.never(),
    "half": lambda seed: waits.sometimes(0.5, seed),
    "mostly": lambda seed: waits.sometimes(0.85, seed),
    "bursts": lambda seed: waits.in_turns(7 + seed % 5, 11),
}


@functools.cache
def given():
    """What the bench is told of the design, by ``+setup=FILE``: a JSON object, as attributes."""
    return SimpleNamespace(**json.loads(Path(cocotb.plusargs["setup"]).read_text()))


def cross(test):
    """Run a test with each pattern of idling and each of back-pressure."""
    return cocotb.parametrize(idle=["never", "half"], pressure=["never", "mostly", "bursts"])(test)


def post(tb, worms):
    """Send worms, and expect what comes of them.

    Each is ``{"link", "vc", "flits", "copies"}``: where it is sent and what, and pairs of an end and the flits that
    must come there; with ``at`` not before that cycle.
    """
    for worm in worms:
        tb.drivers[worm["link"]].send(worm["flits"], worm["vc"], at=worm.get("at", 0))
        for end, flits in worm["copies"]:
            tb.scoreboard.expect(end, flits)


class CopyingTB(TB):
    """A router of a multistage network, which copies worms; its links are all to and from other routers.

    What it is told: ``inputs``, ``outputs`` (prefixes of its links), ``depth`` of all buffers and the ``chunk`` that a
    credit stands for, ``masks`` (by output the bits of the nodes behind it, of each header flit), ``straps``,
    ``header_flits``, ``reports`` (whether arrivals are reported), ``faults``, ``worms`` to send: link, virtual channel,
    flits.
    """

    def __init__(self, dut):
        super().__init__(dut)
        told = given()
        for prefix in told.inputs:
            self.driver(prefix, depth=told.depth, chunk=told.chunk)
        for prefix in told.outputs:
            self.sink(prefix, depth=told.depth, chunk=told.chunk)
        for name, value in told.straps.items():
            getattr(dut, name).value = value

    def send(self, worm):
        """Send a worm, and expect its copies; how many these are."""
        self.drivers[worm["link"]].send(worm["flits"], worm["vc"], at=worm.get("at", 0))
        return self.scoreboard.expect_copies(worm["flits"], given().masks, reports=given().reports)

    def post(self, worms):
        """Send worms, and expect their copies."""
        for worm in worms:
            self.send(worm)


def faults(dut):
    """The first error that each component of the design has found: cause, port and virtual channel, by output.

    What the bench is told: ``faults``, by output how many bits each of the three has.
    """
    found = {}
    for name, widths in given().faults.items():
        bits = int(getattr(dut, name).value)
        if bits:
            at = itertools.accumulate([0, *widths])
            found[name] = [bits >> first & (1 << width) - 1 for first, width in zip(at, widths, strict=False)]
    return found


async def all_pass(tb, idle, pressure, send=post):
    """Send the worms that the bench is told, with these patterns: all come where they must, and nothing is wrong."""
    tb.wait_by(idle=PATTERNS[idle], pressure=PATTERNS[pressure])
    await tb.reset()
    send(tb, given().worms)
    await tb.finish()
    assert faults(tb.dut) == {}
