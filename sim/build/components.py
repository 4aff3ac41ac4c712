# amaranth: UnusedElaboratable=no
# (often built only to read its ports)
"""All components by name, each as the complete router or network interface has it."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError, find_scheme, topology

from .configurations import hardware
from .front_door import require_sendable
from .setup import DEFAULTS

if TYPE_CHECKING:
    from amaranth.lib import wiring

    from wormcast.hw.decoders.alone import HeaderDecoder
    from wormcast.hw.input_decode import InputDecode
    from wormcast.hw.router import Blueprint

__all__ = ["COMPONENTS", "Exported", "blueprint_of", "build_component", "find_component"]


def blueprint_of(options: Mapping[str, Any]) -> "Blueprint":
    """Resolve options as a user names them.

    Parameters
    ----------
    options : mapping
        ``topology``, ``scheme``, ``relation`` as for `find_scheme`, ``relations`` joined by commas, and those of
        the hardware as for `hardware`; `DEFAULTS` for those that are not there.

    Raises
    ------
    WormcastError
        One of them is refused, or relation and relations are both there.
    """
    from wormcast.hw.router import Blueprint

    chosen = {**DEFAULTS, **options}
    if "relation" in chosen and "relations" in chosen:
        raise WormcastError("relation and relations are given, allowed is one or the other")
    network = topology(chosen.pop("topology"))
    scheme = find_scheme(chosen.pop("scheme"), network, chosen.pop("relation", None))
    relations = chosen.pop("relations", None)
    resolved = hardware(network, scheme, chosen)
    require_sendable(network, scheme, resolved)
    return Blueprint(network, scheme, resolved, tuple(relations.split(",")) if relations else ())


def build_component(blueprint: "Blueprint", name: str, port: str | None = None,
                    kind: str | None = None) -> "wiring.Component":
    """Build a component.

    Parameters
    ----------
    name : str
        One of `COMPONENTS`.
    port : str, optional
        The router's port that it belongs to; the first one if it is not given.
    kind : str, optional
        The kind of routers that it belongs to, of `Blueprint.named_kinds`; the first one if it is not given.

    Raises
    ------
    WormcastError
        There is no such component, or none in this hardware, or it is not one of a port's or of a router, or there is
        no such port or kind.
    """
    part = find_component(name)
    kinds = blueprint.named_kinds
    if kind is not None and (kind not in kinds or part.whole == "interface"):
        allowed = f"belongs to none of {', '.join(kinds)}" if part.whole == "interface" else (
            f"of {blueprint.topology.name} is allowed with {', '.join(kinds)}")
        raise WormcastError(f"kind: {kind!r} is given, {name} {allowed}")
    router = blueprint.router(None if kind is None else kinds[kind])
    ports = {"input": router.decoder.inputs, "output": router.decoder.outputs}.get(part.side or "", ())
    if port is not None and port not in ports:
        allowed = f"allowed are {', '.join(ports)}" if ports else f"{name} belongs to none"
        raise WormcastError(f"port: {port!r} is given, {allowed}")
    whole = blueprint.interface() if part.whole == "interface" else router
    path = [step.format(port=port or next(iter(ports), "")) for step in part.path]
    try:
        found = _inside(whole, path)
    except NameError:  # there is no submodule of this name
        if not part.options:
            raise
        found = None
    if not isinstance(found, part.kind):
        raise WormcastError(f"{name}: there is none with {_given(blueprint, part)}, {_instead(name, part)}")
    return part.take(found)


def _given(blueprint: "Blueprint", part: "Exported") -> str:
    """What of a hardware's options decides whether it has a part."""
    named = {"topology": blueprint.topology.name, "scheme": blueprint.scheme.name}
    given = {option: named.get(option, getattr(blueprint.configuration, option, None))
             for option in part.options or named}
    return ", ".join(f"{option} {value}" for option, value in given.items() if value is not None)


def _instead(name: str, part: "Exported") -> str:
    """Which hardware has a part, or what other hardware has in its place."""
    if part.options:
        return "there is one with " + " ".join(f"--{option} {value}" for option, value in part.options.items())
    others = [one for one, other in COMPONENTS.items() if other.path == part.path and one != name]
    return f"in its place is {' or '.join(others)}"


@dataclass(frozen=True)
class Exported:
    """Where a component is found.

    Parameters
    ----------
    description : str
        One line: what it does.
    whole : "router" or "interface"
        What it is a part of.
    path : tuple of str
        Submodules from there to it; ``{port}`` stands for the name of a router's port.
    side : "input", "output" or None
        Which ports of a router have one each.
    found : str
        Module of wormcast.hw and class of what must be found there: other hardware may have another component in its
        place. Empty: there is one component alone.
    take : callable
        Makes the component of what is found there, where it is no submodule itself.
    options : mapping
        Options of hardware that has it, where `DEFAULTS` have none.
    """

    description: str
    whole: str
    path: tuple[str, ...] = ()
    side: str | None = None
    found: str = ""
    take: Callable[[Any], "wiring.Component"] = lambda found: found
    options: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def kind(self) -> type:
        """Class of what must be found."""
        from amaranth.lib import wiring

        module, _, name = self.found.rpartition(".")
        return getattr(importlib.import_module(f"wormcast.hw.{module}"), name) if module else wiring.Component


def _decoder(intake: "InputDecode") -> "HeaderDecoder":
    from wormcast.hw.decoders.alone import HeaderDecoder

    return HeaderDecoder(intake.port, intake.decoder, width=intake.width)


#: Hardware whose worms are copied to several outputs, with tokens.
TREES = {"topology": "min:b=2,stages=2", "scheme": "atbm", "tokens": "on"}

#: Hardware whose switches hold whole worms.
WHOLE = {"topology": "irregular:switches=4,ports=4,nodes=6", "scheme": "tree", "configuration": "sivaram_32"}

#: Interfaces that forward packets.
FORWARDS: dict[str, str | int] = {"ni": "fpfs", "packet": 16}

COMPONENTS: Mapping[str, Exported] = {
    "router": Exported("one switch, with all its inputs and outputs", "router"),
    "input-unit": Exported("one input of a router: buffer, worms, readers", "router", ("{port}_input",), "input",
                       "input_unit.InputUnit"),
    "intake": Exported("an input's write side: frames worms, finds errors", "router", ("{port}_input", "intake"),
                       "input", "input_decode.InputDecode"),
    "decoder": Exported("an input's header decoder, without a clock", "router", ("{port}_input", "intake"), "input",
                    "input_decode.InputDecode", _decoder),
    "replication-buffer": Exported(
        "an input's buffer: one writer, several readers, pending counters", "router", ("{port}_input", "buffer"),
        "input", "buffer.ReplicationBuffer"),
    "input-vc": Exported("a worm's life in one virtual channel", "router", ("{port}_input", "channel_0"), "input",
                     "input_vc.InputVC"),
    "tree-input": Exported("one input of a router that copies worms to several outputs", "router", ("{port}_input",),
                       "input", "tree.input_unit.TreeInput", options=TREES),
    "tree-intake": Exported("a tree input's write side: finds a worm's branches, and errors", "router",
                        ("{port}_input", "intake"), "input", "tree.input_decode.TreeInputDecode", options=TREES),
    "branch-buffer": Exported("a tree input's buffer: one writer, a reader for each branch", "router",
                          ("{port}_input", "buffer"), "input", "tree.buffer.BranchBuffer", options=TREES),
    "tree-worm": Exported("a worm's branches and reports, in one virtual channel", "router",
                          ("{port}_input", "channel_0"), "input", "tree.worm.TreeWorm", options=TREES),
    "token-station": Exported("where a router takes its group's token, and puts it back", "router", ("token",), None,
                          "token_station.TokenStation", options=TREES),
    "deep-input": Exported("one input of a router that holds whole worms", "router", ("{port}_input",), "input",
                       "deep.input_unit.DeepInput", options=WHOLE),
    "deep-intake": Exported("a deep input's write side: finds a worm's branches, and errors", "router",
                        ("{port}_input", "intake"), "input", "deep.input_decode.DeepInputDecode", options=WHOLE),
    "chunk-store": Exported("a deep input's buffer: rows of flits in block memory, with chunk counters", "router",
                        ("{port}_input", "store"), "input", "deep.chunk_buffer.ChunkStore", options=WHOLE),
    "window": Exported("a deep input's flits that pass, for those who take them on their way", "router",
                   ("{port}_input", "window"), "input", "deep.cut_through.CutThroughWindow", options=WHOLE),
    "deep-worm": Exported("which worm of a deep input is served, and what it waits for", "router",
                      ("{port}_input", "channel_0"), "input", "deep.worm.DeepWorm", options=WHOLE),
    "row-reader": Exported("an output's reader of a worm, row by row or as it passes", "router", ("{port}_reader",),
                       "output", "deep.reader.RowReader", options=WHOLE),
    "fetch-order": Exported("whose row is fetched, of all readers of a router", "router", ("order",), None,
                        "deep.row_scheduler.FetchOrder", options=WHOLE),
    "allocator": Exported("grants a router's outputs, in one least-recently-granted order", "router", ("allocator",)),
    "output-unit": Exported("one output of a router: owners, credits, the link's register", "router",
                            ("{port}_output",), "output"),
    "interface": Exported("the network interface of one node", "interface"),
    "injection": Exported("an interface's way in: packets on free virtual channels", "interface", ("injection_0",)),
    "consumption": Exported("an interface's way out: payload from the consumption channels", "interface",
                        ("consumption_0",)),
    "retransmission": Exported("an interface's absorb buffers and retransmission slots, with --absorb SLOTS",
                               "interface", ("injection_0", "slots"), options={"absorb": "1"}),
    "forwarding": Exported("a smart interface's packets, stored once and sent to each child, with --ni fcfs or fpfs",
                       "interface", ("forwarding",), found="interface.smart.forwarding.Forwarding", options=FORWARDS),
    "child-table": Exported("whom a smart interface forwards the packets of a message to", "interface",
                        ("forwarding", "children"), found="interface.smart.children.ChildTable", options=FORWARDS),
    "packet-order": Exported("which packet goes to which child next: first packet, first served", "interface",
                         ("forwarding", "order"), found="interface.smart.orders.PacketOrder", options=FORWARDS),
    "message-order": Exported("which packet goes to which child next: first child, first served", "interface",
                          ("forwarding", "order"), found="interface.smart.orders.MessageOrder",
                          options={**FORWARDS, "ni": "fcfs"}),
}


def find_component(name: str) -> Exported:
    """Return the entry of this name, or refuse it with those that there are."""
    if name not in COMPONENTS:
        raise WormcastError(f"component: {name!r} is unknown, there are {', '.join(COMPONENTS)}")
    return COMPONENTS[name]


def _inside(whole: "wiring.Component", path: list[str]) -> Any:
    """The submodule at the end of a path, as the whole makes it when it is elaborated."""
    if not path:
        return whole
    from amaranth.hdl import Fragment

    fragment = Fragment.get(whole, None)
    for step in path:
        fragment = fragment.find_subfragment(step)
    return fragment.origins[0]
