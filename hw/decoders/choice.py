"""Choice of the header decoder of a router, by header format, routing relation and network."""

from dataclasses import dataclass
from importlib import import_module
from typing import cast

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import Header
from wormcast.algorithms.routing import ALONG_LABELS, E_CUBE, HAMILTONIAN_ROW_FIRST, Relation, Routes
from wormcast.algorithms.schemes import Scheme
from wormcast.algorithms.topologies.base import Topology
from wormcast.algorithms.topologies.direct import GRIDS
from wormcast.algorithms.turns import require_unicasts

from ..options import RouterOptions, require_buffers
from ..router_kind import SwitchKind
from .base import Decoder
from .grid import grid_kind
from .mesh import MeshDecoder

__all__ = ["DecoderPlace", "decoder_for"]


@dataclass(frozen=True)
class DecoderPlace:
    """Network and router that a decoder is for.

    Parameters
    ----------
    kind : SwitchKind
        One of the topology's kinds.
    header : Header
    scheme : Scheme
        The scheme, which determines the consumption classes.
    routes : Routes
        The scheme's relation on the topology.
    options : RouterOptions
    relations : tuple of str
        Relations among which a header selects, all decoded by comparing coordinates; if empty, the routers decode the
        relation of ``routes`` alone.
    """

    kind: SwitchKind
    header: Header
    scheme: Scheme
    routes: Routes
    options: RouterOptions
    relations: tuple[str, ...] = ()

    @property
    def topology(self) -> Topology:
        """Network of the router."""
        return self.routes.topology

    @property
    def ports(self) -> dict[str, str]:
        """Arguments ``injection`` and ``ejection`` of `Decoder`."""
        return {"injection": self.options.ports, "ejection": self.options.ejection}

    @property
    def is_grid(self) -> bool:
        """The network has the ports and links of a mesh or torus. A user's network of kind mesh or torus can have other
        ports."""
        return self.topology.kind in GRIDS and self.kind.signature == grid_kind(self.topology.shape).signature

    @property
    def compared(self) -> list[Relation]:
        """Relations that the routers can decode by comparing coordinates; empty if the network is no mesh."""
        return [one for one in (E_CUBE, *ALONG_LABELS)
                if self.is_grid and self.topology.kind == "mesh" and MeshDecoder.knows(one)
                and (one is not HAMILTONIAN_ROW_FIRST or len(self.topology.shape) == 2)]


def decoder_for(place: DecoderPlace) -> Decoder:
    """Build the header decoder of a kind of routers.

    The function ``decoder_of(place)`` of the module that the header's attribute ``decoder`` names builds the decoder.

    Raises
    ------
    WormcastError
        No decoder supports this combination of network, scheme, relations and options.
    """
    relations, known = place.relations, [one.name for one in place.compared]
    if not set(relations) <= set(known) or len(set(relations)) < len(relations):
        reason = (f". Allowed: {', '.join(known)}, each once." if known else
                  f" on {place.topology.name}: its routers decode one relation. Allowed: relation, with one name, "
                  "in place of relations.")
        raise WormcastError(f"relations: {', '.join(relations)} is not valid{reason}")
    require_buffers(place.scheme, deep=place.options.deep)
    require_unicasts(place.scheme, place.routes)
    name, header = getattr(place.header, "decoder", None), type(place.header).__name__
    if name is None:
        raise WormcastError(f"header: class {header} has no attribute decoder. Needed: the name of a module with a "
                            "function decoder_of(place), for example decoder = 'wormcast.hw.decoders.bit_string'.")
    try:
        decoder_of = import_module(name).decoder_of
    except (ImportError, AttributeError) as error:
        raise WormcastError(f"header: class {header} has decoder {name!r}, which cannot be used ({error}). "
                            "Needed: the name of a module with a function decoder_of(place).") from error
    return cast(Decoder, decoder_of(place))
