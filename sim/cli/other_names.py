"""Names of options in other simulators, for suggestions when an option is unknown."""

from collections.abc import Collection

__all__ = ["counterparts"]

#: Names in BookSim 2, Garnet and Noxim, by our option.
NAMES = {
    "--burst-off": ("burst-alpha",),
    "--burst-on": ("burst-beta",),
    "--buffer": ("vc-buf-size", "buf-size", "buffer-size", "buffer-depth", "buffers-per-data-vc"),
    "--consumption": ("output-buffer-size", "ejection-channels"),
    "--cycles": ("sim-cycles", "sim", "sample-period", "max-samples", "simulation-time"),
    "--flit-width": ("channel-width", "link-width-bits", "flit-size", "phit-size"),
    "--hot-spots": ("hotspot", "hotspots", "hs"),
    "--length": ("packet-size", "packet-length", "message-size", "message-length", "size"),
    "--pattern": ("traffic", "traffic-pattern", "synthetic"),
    "--outstanding": ("max-outstanding-requests", "max-outstanding", "mshrs"),
    "--rate": ("injection-rate", "injectionrate", "inj-rate", "pir", "offered-load", "load"),
    "--relation": ("routing-function", "routing-algorithm", "routing"),
    "--reply": ("use-read-write", "read-reply-size", "write-reply-size", "reply-size", "reply-length"),
    "--vcs": ("num-vcs", "vcs-per-vnet", "virtual-channels", "vc"),
    "--warmup": ("warmup-periods", "warmup-period", "warmup-cycles"),
    "TOPOLOGY, for example mesh:8x8": ("topology", "k", "n", "c", "mesh-rows", "num-cpus", "dimx", "dimy"),
}


def counterparts(unknown: str, options: Collection[str]) -> list[str]:
    """Return the command's options that correspond to an option of another simulator.

    Parameters
    ----------
    unknown : str
        Option as typed by the user.
    options : collection of str
        The command's options, with dashes, and its arguments.
    """
    name = unknown.lstrip("-").replace("_", "-").lower()
    return [ours for ours, theirs in NAMES.items() if name in theirs and ours.partition(",")[0] in options]
