"""Bundles of signals between the stages of a switch: fetched route, request, offer of virtual channels, send."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .link import flit_layout

if TYPE_CHECKING:
    from .decoders import Decoder

__all__ = ["OfferSignature", "ReaderSignature", "RequestSignature", "RouteSignature", "SendSignature", "by_name",
           "connect_straps", "named", "strap_ports", "straps_of"]


def named(members: Mapping[str, Any]) -> wiring.Signature:
    """Return the signature of a bundle whose members differ in shape, such as the straps of a decoder.

    `by_name` returns the members of a bundle with this signature. Seen from the component that drives the bundle, all
    members are outputs.
    """
    return wiring.Signature({name: Out(shape) for name, shape in members.items()})


def by_name(bundle: Any) -> dict[str, Any]:
    """Return the members of a bundle, or the ports of a component, by name."""
    return {name: getattr(bundle, name) for name in bundle.signature.members}


def strap_ports(decoder: "Decoder") -> dict[str, Any]:
    """Return a component's ports for its header decoder: ``strap``, and ``table`` if the decoder has tables."""
    return {
        "strap": In(named(decoder.straps)),
        **({} if decoder.table_layout is None else {"table": In(decoder.table_layout)}),
    }


def straps_of(component: Any) -> dict[str, Any]:
    """Return a component's straps by name; if the decoder has a table, also ``table``, for writes to the table."""
    straps = by_name(component.strap)
    return straps if component.decoder.table_layout is None else {**straps, "table": component.table}


def connect_straps(m: Module, outer: Any, inner: Any) -> None:
    """Connect the straps and the table of ``outer`` to those of ``inner``, a part of ``outer`` with the same
    decoder."""
    given = straps_of(outer)
    m.d.comb += [strap.eq(given[name]) for name, strap in straps_of(inner).items()]


class RequestSignature(wiring.Signature):
    """Request for outputs, from a reader of an input to the allocator, and the allocator's answer.

    Members
    -------
    outputs : Out(outputs)
        The outputs that are requested in this cycle.
    complete : Out(1)
        The request has all outputs that must be granted together. Only complete requests are granted.
    turn : Out(range(turns))
        Number of the virtual channel that requests; in a `TreeInput`, number of the pair of virtual channel and branch.
    granted : In(1)
        The request is complete, and all of it is granted.
    grant : In(outputs)
        Those of the requested outputs for which this request comes first in the allocator's order, even if the request
        is not granted as a whole. ``grant`` settles earlier in the cycle than ``granted``.

    Parameters
    ----------
    outputs, turns : int
        Outputs of the allocator, and turns of the requester (see `Allocator`).
    """

    def __init__(self, *, outputs: int, turns: int):
        super().__init__({
            "outputs": Out(outputs),
            "complete": Out(1),
            "turn": Out(range(turns)),
            "granted": In(1),
            "grant": In(outputs),
        })


class ReaderSignature(wiring.Signature):
    """Reader of an input: its request, and its flit for the crossbar.

    Members
    -------
    request : Out(RequestSignature)
        A reader that sends a flit to a link and a consumption channel needs both at once. A request that only reserves
        a consumption channel is complete.
    flit : Out(flit_layout(width))
        The presented flit.
    place : Out
        Code of a header flit, as in `TreeDecoder`. Only in a `TreeInput`.
    owns : Out(1)
        The presented worm owns a virtual channel of its link. If ``owns`` is 0, a grant gives the worm a virtual
        channel.
    consumption_request : Out(1)
        A grant takes a consumption channel. In a `TreeInput`, a grant takes a virtual channel of each requested output,
        to a switch or to a node.
    sends : Out(1)
        If 1, a grant of a consumption channel sends the flit. A grant of a link always sends the flit.
    reports : Out(1)
        The presented worm reports its arrival. This member exists only with parameter ``reports``.

    Parameters
    ----------
    outputs, turns : int
        As in `RequestSignature`.
    width : int
        Data bits of a flit.
    place_bits : int, optional
        Bits of ``place``; None: the reader has no ``place``.
    reports : bool
    """

    def __init__(self, *, outputs: int, turns: int, width: int, place_bits: int | None = None, reports: bool = False):
        super().__init__({
            "request": Out(RequestSignature(outputs=outputs, turns=turns)),
            "flit": Out(flit_layout(width)),
            **({} if place_bits is None else {"place": Out(place_bits)}),
            "owns": Out(1),
            "consumption_request": Out(1),
            "sends": Out(1),
            **({"reports": Out(1)} if reports else {}),
        })


class OfferSignature(wiring.Signature):
    """Offer of an output's virtual channels to the inputs: the channel that a header may take, and those with a credit.

    Members
    -------
    free : Out(classes)
        For each class: a virtual channel can be taken in this cycle. With several classes, no channel is offered in the
        cycle after one was taken.
    vc_candidate : Out(range(vcs)) of each class
        Number of the virtual channel of the class that can be taken.
    vc_free_next : Out(classes)
        Value of ``free`` in the next cycle, if no header takes a channel in this one.
    vc_still_free : Out(1)
        With several classes: no header took a channel in the previous cycle, so ``free`` now has the value that
        ``vc_free_next`` had then. With one class: the value of ``free``.
    ready : Out(vcs)
        The virtual channel can send a flit in the next cycle if it sends none in this cycle.
    ready_after : Out(vcs)
        The virtual channel can send a flit in the next cycle if it sends one in this cycle.

    Parameters
    ----------
    vcs, classes : int
        Virtual channels of the output, and classes of worms.
    """

    def __init__(self, *, vcs: int, classes: int):
        super().__init__({
            "free": Out(classes),
            "vc_candidate": Out(range(vcs)).array(classes),
            "vc_free_next": Out(classes),
            "vc_still_free": Out(1),
            "ready": Out(vcs),
            "ready_after": Out(vcs),
        })


class SendSignature(wiring.Signature):
    """Input of an output unit from the crossbar: a flit, or the reservation of a virtual channel.

    Members
    -------
    vc_active : Out(1)
        A flit is sent, or a virtual channel is reserved, on ``vc``; ``send`` distinguishes them.
    send : Out(1)
        A flit is sent.
    vc : Out
        Virtual channel of the flit or of the reservation.
    tail : Out(1)
        With ``send``: the flit is the worm's last one.
    flit : Out(flit_layout(width))
        The flit that is sent, in the cycle of ``send``; one cycle later with parameter ``extra_stage`` of `OutputUnit`.
    reports : Out(1)
        With ``vc_active``: the worm on ``vc`` reports its arrival. A reporting worm holds the virtual channel until its
        tail is sent and the link has reported the arrival. This member exists only with parameter ``reports``.

    Parameters
    ----------
    vcs, width : int
        Virtual channels of the link, and data bits of a flit.
    reports : bool
    """

    def __init__(self, *, vcs: int, width: int, reports: bool = False):
        super().__init__({
            "vc_active": Out(1),
            "send": Out(1),
            "vc": Out(range(vcs)),
            "tail": Out(1),
            "flit": Out(flit_layout(width)),
            **({"reports": Out(1)} if reports else {}),
        })


class RouteSignature(wiring.Signature):
    """Route in the header flit that a reader presents, for the virtual channels of a path router.

    Members
    -------
    links : Out(targets)
        Targets that the worm goes on to: pairs of a network output and a class.
    here : Out(1)
        A destination of the worm is here, or the worm ends here.
    ends_here : Out(1)
        The worm ends here: its last destination is here, the decoder absorbs it, or it cannot go on.
    ejection_port : Out(range(ejection_ports))
        Ejection port of the worm that ends here. ``ejection_port`` exists only with several ejection ports.
    consumption_class : Out(class_bits)
        Consumption class of a worm that stops here and goes on. The class can depend on the virtual channel by which
        the worm came.
    nothing : Out(1)
        The flit requests nothing, and is not fetched.
    keeps : Out(1)
        The header flit itself goes to the consumption channel. This member exists only with parameter ``absorbs``.

    Parameters
    ----------
    targets, ejection_ports, class_bits : int
    absorbs : bool
    """

    def __init__(self, *, targets: int, ejection_ports: int, class_bits: int, absorbs: bool = False):
        super().__init__({
            "links": Out(targets),
            "here": Out(1),
            "ends_here": Out(1),
            **({"ejection_port": Out(range(ejection_ports))} if ejection_ports > 1 else {}),
            "consumption_class": Out(class_bits),
            "nothing": Out(1),
            **({"keeps": Out(1)} if absorbs else {}),
        })
