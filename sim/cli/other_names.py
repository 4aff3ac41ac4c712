"""Names that other simulators have for options of ours: an unknown option is answered with what is meant."""

from collections.abc import Collection

__all__ = ["counterparts"]

#: Our option, and names of BookSim 2, Garnet and Noxim for the same.
NAMES = {
    "--buffer": ("vc-buf-size", "buf-size", "buffer-size", "buffer-depth", "buffers-per-data-vc"),
    "--consumption": ("output-buffer-size", "ejection-channels"),
    "--cycles": ("sim-cycles", "sim", "sample-period", "max-samples", "simulation-time"),
    "--flit-width": ("channel-width", "link-width-bits", "flit-size", "phit-size"),
    "--hot-spots": ("hotspot", "hotspots", "hs"),
    "--length": ("packet-size", "packet-length", "message-size", "message-length", "size"),
    "--pattern": ("traffic", "traffic-pattern", "synthetic"),
    "--rate": ("injection-rate", "injectionrate", "inj-rate", "pir", "offered-load", "load"),
    "--relation": ("routing-function", "routing-algorithm", "routing"),
    "--vcs": ("num-vcs", "vcs-per-vnet", "virtual-channels", "vc"),
    "--warmup": ("warmup-periods", "warmup-period", "warmup-cycles"),
    "TOPOLOGY, for example mesh:8x8": ("topology", "k", "n", "c", "mesh-rows", "num-cpus", "dimx", "dimy"),
}


def counterparts(unknown: str, options: Collection[str]) -> list[str]:
    """Give what a command has for another simulator's option, or nothing.

    Parameters
    ----------
    unknown : str
        As the user typed it.
    options : collection of str
        Of the command: options with their dashes, and names of arguments.
    """
    name = unknown.lstrip("-").replace("_", "-").lower()
    return [ours for ours, theirs in NAMES.items() if name in theirs and ours.partition(",")[0] in options]
