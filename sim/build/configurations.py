"""Named hardware presets, each with its source."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from wormcast.algorithms import Scheme, Topology, WormcastError
from wormcast.algorithms.errors import nearest
from wormcast.algorithms.registry import Registry
from wormcast.algorithms.typecheck import require_kind

from .configuration import DEEP, Configuration

__all__ = ["CONFIGURATIONS", "NamedConfiguration", "completed", "configured", "hardware"]


@dataclass(frozen=True)
class NamedConfiguration:
    """Named hardware options.

    Parameters
    ----------
    description : str
        One line: the hardware, and its source.
    options : mapping
        Values of fields of `Configuration`. All fields that are not in ``options`` have their defaults.
    buffers : mapping of int to int
        Flits of buffer of a virtual channel, by number of virtual channels. If ``buffers`` is empty, the buffer
        does not depend on the number of virtual channels.
    """

    description: str
    options: Mapping[str, Any]
    buffers: Mapping[int, int] = field(default_factory=dict)

    def resolve(self, given: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Add this configuration's options to the given ones, which have precedence. ``name``: the configuration's.

        Raises
        ------
        WormcastError
            The configuration has no buffer depth for this number of virtual channels, and none is given.
        """
        chosen = {**self.options, **given}
        if self.buffers and "buffer" not in chosen:
            vcs = chosen.get("vcs", Configuration.vcs)
            require_kind("vcs", vcs, int)
            if vcs not in self.buffers:
                raise WormcastError(f"vcs: {vcs} is not valid with configuration {name}, which has no buffer depth for "
                                    f"it. Allowed: {', '.join(map(str, self.buffers))}; others with buffer.")
            chosen["buffer"] = self.buffers[vcs]
        return chosen


CONFIGURATIONS: Registry[NamedConfiguration] = Registry("configuration", NamedConfiguration, "wormcast.configurations")

CONFIGURATIONS.add("boppana_8x8", NamedConfiguration(
    "[Boppana98], section 4, as printed: 8, 4 or 2 flits for 1, 2 or 4 VCs, 4 consumption channels",
    {"vcs": 2, "consumption": 4}, {1: 8, 2: 4, 4: 2},
))
CONFIGURATIONS.add("boppana_8x8_covered", NamedConfiguration(
    "as boppana_8x8, with the credit loop of 4 cycles covered on every VC: 8, 4 or 4 flits",
    {"vcs": 2, "consumption": 4}, {1: 8, 2: 4, 4: 4},
))
CONFIGURATIONS.add("amnah_5x5x5", NamedConfiguration(
    "[Amnah], simulations: single channels, all-port nodes, as the theorems need; start-ups of 10 cycles",
    {"vcs": 1, "consumption": 1, "ports": "all", "ejection": "all", "t_hs": 10},
))
CONFIGURATIONS.add("small", NamedConfiguration(
    "least area: 1 VC of 2 flits, with which a worm uses half of a link's cycles; 2 flits between host and interface",
    {"vcs": 1, "buffer": 2, "queue": 2},
))
CONFIGURATIONS.add("fast", NamedConfiguration(
    "delays of 4 and 3 cycles a hop for a higher clock, their credit loop of 5 cycles covered",
    {"delays": "fast", "buffer": 5},
))
CONFIGURATIONS.add("dcf_torus", NamedConfiguration(
    "[Hou], section 2: an injection and an ejection port for each link of a node; VC classes p and l/h, one VC each",
    {"vcs": 2, "ports": "all", "ejection": "all", "consumption": 1},
))

#: [Varavithya] states that buffers are small and that the header, a bit string, fits into one flit.
#: The numbers of buffers and tokens in [Varavithya] imply one virtual channel, and one consumption channel per node.
#: A buffer of 4 flits covers the credit loop, so that a worm moves at full rate if no other worm delays it.
TREE_SWITCHES = {"vcs": 1, "buffer": 4, "consumption": 1, "header": "ideal"}
CONFIGURATIONS.add("atbm_64", NamedConfiguration(
    "[Varavithya], section 4: up to 64 nodes, single channels, small buffers, the header in one flit",
    TREE_SWITCHES,
))
CONFIGURATIONS.add("atbm_256", NamedConfiguration(
    "as atbm_64, for 256 nodes, whose header takes flits of 257 bits",
    TREE_SWITCHES,
))

#: Number of flits of a deep buffer in [Sivaram98], section 6.2.
DEEP_BUFFER = 640
CONFIGURATIONS.add("sivaram_32", NamedConfiguration(
    f"[Sivaram98], section 6.2: {DEEP_BUFFER} flits of a byte at each input; chunks of 8, as the SP2's",
    {"vcs": 1, "consumption": 1, "buffer_kind": "deep", "buffer": DEEP_BUFFER, "chunk": 8, "flit_width": 8},
))

#: Options of `hardware`.
KNOWN = ("configuration", *(one.name for one in fields(Configuration)))


def completed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options, completed by the named configuration's options and by the options that deep buffers
    need.

    Raises
    ------
    WormcastError
        There is no configuration of that name, or the configuration has no buffer depth for the given ``vcs``.
    """
    options = {name: value for name, value in given.items() if name != "configuration"}
    if "configuration" in given:
        require_kind("configuration", given["configuration"], str)
        options = CONFIGURATIONS[given["configuration"]].resolve(options, given["configuration"])
    return {**_deep_defaults(options), **options}


def _deep_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that deep buffers require, and a default for ``buffer``; an empty dict for shallow buffers."""
    if options.get("buffer_kind") != "deep":
        return {}
    chunk = Configuration(chunk=options.get("chunk", Configuration.chunk)).chunk  # `Configuration` checks the chunk
    return {**DEEP, "buffer": DEEP_BUFFER // chunk * chunk}


def configured(given: Mapping[str, Any]) -> tuple[Configuration, dict[str, Any]]:
    """Return the hardware with the given options, and the options of `completed`.

    If the named configuration supplied the value that is refused, the message names the configuration.
    """
    chosen = completed(given)
    try:
        return Configuration(**chosen), chosen
    except WormcastError as error:
        name, _, rest = str(error).partition(": ")
        supplied = str(chosen.get(name))
        if "configuration" not in given or name in given or not rest.startswith(f"{supplied} is not valid"):
            raise
        raise WormcastError(f"{name}: {supplied} (of configuration {given['configuration']})"
                            f"{rest.removeprefix(supplied)}") from error


def hardware(topology: Topology, scheme: Scheme, given: Mapping[str, Any]) -> Configuration:
    """Resolve hardware options for a scheme: those given, then the named configuration's, then the defaults.

    Parameters
    ----------
    given : mapping
        Fields of `Configuration`, and a name under ``configuration``.

    Raises
    ------
    WormcastError
        An option is unknown, or its value is not allowed.
    """
    require_kind("topology", topology, Topology)
    require_kind("scheme", scheme, Scheme)
    require_kind("hardware", given, Mapping)
    for name in given:
        if name not in KNOWN:
            raise WormcastError(f"hardware: {name!r} is not valid.{nearest(name, KNOWN)} Allowed: {', '.join(KNOWN)}.")
    configuration, chosen = configured(given)
    if "consumption" in chosen:
        return configuration
    classes = configuration.consumption_classes(topology, scheme)
    return replace(configuration, consumption=classes.channels)
