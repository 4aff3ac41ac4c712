# amaranth: UnusedElaboratable=no
# (often built only to read its ports)
"""All components by name, each as the complete router or network interface has it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from amaranth.hdl import Fragment
from amaranth.lib import wiring

from wormcast.algorithms import WormcastError, find_scheme, topology
from wormcast.hw.decoders.alone import HeaderDecoder
from wormcast.hw.intake import Intake
from wormcast.hw.router import Blueprint

from .configurations import hardware

__all__ = ["COMPONENTS", "DEFAULTS", "Part", "blueprint_of", "build_component", "find_component"]

#: What components are built for where nothing is said.
DEFAULTS = {"topology": "mesh:8x8", "scheme": "dual-path"}


def blueprint_of(options: Mapping[str, Any]) -> Blueprint:
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
    chosen = {**DEFAULTS, **options}
    if "relation" in chosen and "relations" in chosen:
        raise WormcastError("relation and relations are given, allowed is one or the other")
    network = topology(chosen.pop("topology"))
    scheme = find_scheme(chosen.pop("scheme"), network, chosen.pop("relation", None))
    relations = chosen.pop("relations", None)
    resolved = hardware(network, scheme, chosen)
    return Blueprint(network, scheme, resolved, tuple(relations.split(",")) if relations else ())


def build_component(blueprint: Blueprint, name: str, port: str | None = None,
                    kind: str | None = None) -> wiring.Component:
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
        return part.take(_inside(whole, path))
    except NameError:  # there is no submodule of this name
        if not part.options:
            raise
        given = ", ".join(f"{option} {getattr(blueprint.configuration, option)}" for option in part.options)
        having = " ".join(f"--{option} {value}" for option, value in part.options.items())
        raise WormcastError(f"{name}: there is none with {given}, there is one with {having}") from None


@dataclass(frozen=True)
class Part:
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
    take : callable
        Makes the component of what is found there, where it is no submodule itself.
    options : mapping
        Options of hardware that has it, where that is not all hardware.
    """

    description: str
    whole: str
    path: tuple[str, ...] = ()
    side: str | None = None
    take: Callable[[Any], wiring.Component] = lambda found: found
    options: Mapping[str, str] = field(default_factory=dict)


def _decoder(intake: Intake) -> HeaderDecoder:
    return HeaderDecoder(intake.port, intake.decoder, width=intake.width)


COMPONENTS: Mapping[str, Part] = {
    "router": Part("one switch, with all its inputs and outputs", "router"),
    "input-unit": Part("one input of a router: buffer, worms, readers", "router", ("{port}_input",), "input"),
    "intake": Part("an input's write side: frames worms, finds errors", "router", ("{port}_input", "intake"), "input"),
    "decoder": Part("an input's header decoder, without a clock", "router", ("{port}_input", "intake"), "input",
                    _decoder),
    "replication-buffer": Part(
        "an input's buffer: one writer, several readers, pending counters", "router", ("{port}_input", "buffer"),
        "input"),
    "input-vc": Part("a worm's life in one virtual channel", "router", ("{port}_input", "channel_0"), "input"),
    "allocator": Part("grants a router's outputs, in one least-recently-granted order", "router", ("allocator",)),
    "output-unit": Part("one output of a router: owners, credits, the link's register", "router", ("{port}_output",),
                        "output"),
    "interface": Part("the network interface of one node", "interface"),
    "injection": Part("an interface's way in: packets on free virtual channels", "interface", ("injection_0",)),
    "consumption": Part("an interface's way out: payload from the consumption channels", "interface",
                        ("consumption_0",)),
    "retransmission": Part("an interface's absorb buffers and retransmission slots, with --absorb SLOTS", "interface",
                           ("injection_0", "slots"), options={"absorb": "1"}),
}


def find_component(name: str) -> Part:
    """Return the entry of this name, or refuse it with those that there are."""
    if name not in COMPONENTS:
        raise WormcastError(f"component: {name!r} is unknown, there are {', '.join(COMPONENTS)}")
    return COMPONENTS[name]


def _inside(whole: wiring.Component, path: list[str]) -> Any:
    """The submodule at the end of a path, as the whole makes it when it is elaborated."""
    if not path:
        return whole
    fragment = Fragment.get(whole, None)
    for step in path:
        fragment = fragment.find_subfragment(step)
    return fragment.origins[0]
