# amaranth: UnusedElaboratable=no
# (components that are built only to read their ports are never elaborated)
"""Variants of routers and network interfaces: the options that select them, their parameters, components and probes.

A new variant needs its files and an entry in `ROUTERS` or `INTERFACES`. docs/variants.md has an example.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import Header
from wormcast.algorithms.schemes import Scheme
from wormcast.algorithms.token_groups import NO_TOKEN, TokenGroups

from .deep.deep_probe import DeepProbe
from .deep.switch_spec import DeepSwitchSpec
from .input_probe import InputProbe, PathProbe
from .interface.interface_probe import InterfaceProbe, RetransmissionProbe
from .interface.smart.smart_probe import PacketBufferProbe
from .options import FORWARD_ORDERS, RouterOptions, queue_places
from .router_kind import SwitchKind
from .switch_spec import SwitchSpec
from .tree.switch_spec import TreeSwitchSpec
from .tree.tree_probe import TreeProbe

if TYPE_CHECKING:
    from .interface import NetworkInterface
    from .switch import Switch

__all__ = ["INTERFACES", "ROUTERS", "InterfaceVariant", "RouterVariant", "interface_variant", "probe_of",
           "router_variant"]


@dataclass(frozen=True)
class RouterVariant:
    """A variant of the router.

    Parameters
    ----------
    name : str
    fits : callable
        Returns true if routers with these options and this header format are of this variant. The first variant of
        `ROUTERS` that fits is used.
    spec : type
        Class of the parameters of the variant's routers. The module of ``spec`` does not import Amaranth.
    build : callable
        Builds a router from the arguments of ``spec``. The router's module imports Amaranth, so ``build`` imports the
        module only when called.
    probe : type
        Class of the probes of the router's input virtual channels.
    parameters : callable
        Returns the parameters of ``spec`` that `Blueprint.parameters` does not set for all variants.
    """

    name: str
    fits: Callable[[RouterOptions, Header], bool]
    spec: type[SwitchSpec]
    build: "Callable[..., Switch]"
    probe: Callable[[Any, int, int], InputProbe]
    parameters: Callable[[RouterOptions, Scheme, TokenGroups | None, SwitchKind], dict[str, Any]]


@dataclass(frozen=True)
class InterfaceVariant:
    """A variant of the network interface.

    Parameters
    ----------
    name : str
    fits : callable
        Returns true if interfaces with these options are of this variant. The first variant of `INTERFACES` that fits
        is used.
    build : callable
        Builds an interface. The interface's module imports Amaranth, so ``build`` imports the module only when called.
    probe : type
        Class of the probes of the interface's buffers.
    parameters : callable
        Returns the component's parameters that `Blueprint.interface_parameters` does not set for all variants. The
        arguments of ``parameters`` are the hardware options, the number of the interface's injection ports (links to
        the router), and the number of its consumption links (links from the router).
    host_ports : tuple of str
        Names of the component's links from the host, besides ``host_in_0`` and the like.
    """

    name: str
    fits: Callable[[RouterOptions], bool]
    build: "Callable[..., NetworkInterface]"
    probe: type[InterfaceProbe]
    parameters: Callable[[RouterOptions, int, int], dict[str, Any]]
    host_ports: tuple[str, ...] = ()


def router_variant(options: RouterOptions, header: Header) -> RouterVariant:
    """Return the variant of a network's routers."""
    for one in ROUTERS:
        if one.fits(options, header):
            return one
    raise WormcastError(f"header: class {type(header).__name__} has router {header.router!r}, which is no variant. "
                        "Allowed: path, tree, or the name of a new variant in wormcast.hw.variants.")


def interface_variant(options: RouterOptions) -> InterfaceVariant:
    """Return the variant of a network's interfaces."""
    return next(one for one in INTERFACES if one.fits(options))


def probe_of(router: SwitchSpec, port: int, vc: int) -> InputProbe:
    """Return the probe of one virtual channel at an input of a router."""
    variant = next(one for one in ROUTERS if isinstance(router, one.spec))
    return variant.probe(router, port, vc)


def _build_path(**parameters: Any) -> "Switch":
    from .switch import Switch

    return Switch(**parameters)


def _build_tree(**parameters: Any) -> "Switch":
    from .tree.switch import TreeSwitch

    return TreeSwitch(**parameters)


def _build_deep(**parameters: Any) -> "Switch":
    from .deep.switch import DeepSwitch

    return DeepSwitch(**parameters)


def _shallow(options: RouterOptions) -> dict[str, Any]:
    return {"storage": options.storage, "delays": options.delays, "consumption_links": options.consumption_links,
            "ejected_header": options.ejected_header}


def _path(options: RouterOptions, scheme: Scheme, tokens: TokenGroups | None, kind: SwitchKind) -> dict[str, Any]:
    return {**_shallow(options), "readers": options.readers}


def _tree(options: RouterOptions, scheme: Scheme, tokens: TokenGroups | None, kind: SwitchKind) -> dict[str, Any]:
    return {
        **_shallow(options),
        "replication": scheme.replication or "asynchronous",
        "reports": tokens is not None,
        "tokens": tokens is not None and bool((tokens.group[kind.members] != NO_TOKEN).all()),
    }


def _build_absorbing(**parameters: Any) -> "NetworkInterface":
    from .interface import AbsorbingInterface

    return AbsorbingInterface(**parameters)


def _build_forwarding(**parameters: Any) -> "NetworkInterface":
    from .interface.smart import ForwardingInterface

    return ForwardingInterface(**parameters)


def _build_conventional(**parameters: Any) -> "NetworkInterface":
    from .interface import NetworkInterface

    return NetworkInterface(**parameters)


def _host_side(options: RouterOptions) -> dict[str, Any]:
    """Return the parameters of queues and DMA engines, which all variants have."""
    flits, cycles = options.bus_rate
    bus = {"bus_flits": flits, "bus_cycles": cycles, "bus_buckets": options.dma_buckets} if flits else {}
    return {"receive_queue": queue_places(options.receive_queue), "send_queue": queue_places(options.send_queue), **bus}


def _forwarding(options: RouterOptions, ports: int, links: int) -> dict[str, Any]:
    return {"kind": options.ni, "rows": options.rows, "places": options.places, "row_flits": options.row,
            **_host_side(options)}


def _absorbs(options: RouterOptions) -> bool:
    return options.slots > 0


def _absorbing(options: RouterOptions, ports: int, links: int) -> dict[str, Any]:
    return {"slots": options.slots, "slot_flits": options.slot, **_host_side(options)}


def _forwards(options: RouterOptions) -> bool:
    return options.ni in FORWARD_ORDERS


def _conventional(options: RouterOptions, ports: int, links: int) -> dict[str, Any]:
    return {"ports": ports, "links": links, **_host_side(options), "processors": options.ni_processors,
            "order": options.ni_order}


def _always(*_: Any) -> bool:
    return True


def _is_deep(options: RouterOptions, header: Header) -> bool:
    return options.deep


def _is_tree(options: RouterOptions, header: Header) -> bool:
    return header.router == "tree"


def _is_path(options: RouterOptions, header: Header) -> bool:
    return header.router == "path"


def _deep(options: RouterOptions, scheme: Scheme, tokens: TokenGroups | None, kind: SwitchKind) -> dict[str, Any]:
    return {"ejected_header": options.ejected_header}


# functions in place of lambdas, because networks are pickled, and results that contain networks, too

#: Variants of the network interface; the first one that fits is used.
INTERFACES = [
    InterfaceVariant("absorbing", _absorbs, _build_absorbing, RetransmissionProbe, _absorbing),
    InterfaceVariant("forwarding", _forwards, _build_forwarding, PacketBufferProbe, _forwarding,
                     host_ports=("table_in",)),
    InterfaceVariant("conventional", _always, _build_conventional, InterfaceProbe, _conventional),
]


#: Variants of the router; the first one that fits is used.
ROUTERS = [
    RouterVariant("deep", _is_deep, DeepSwitchSpec, _build_deep, DeepProbe, _deep),
    RouterVariant("tree", _is_tree, TreeSwitchSpec, _build_tree, TreeProbe, _tree),
    RouterVariant("path", _is_path, SwitchSpec, _build_path, PathProbe, _path),
]
