"""Errors on the wire that the components of a network, or hosts, detected."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from wormcast.algorithms import Topology

from ..build.network import Network
from ..host import Host, first_wrong_receipt
from ..host.receipts import WrongReceipt
from .bulk import BulkEngine

__all__ = ["Fault", "find_faults", "lost_worms"]

#: Largest number of lost worms that an error report names.
FEW = 3


@dataclass(frozen=True)
class Fault:
    """First error that a router, a network interface or the hosts detected.

    Parameters
    ----------
    component : str
        "router", "interface" or "host".
    node : int or None
        Node of the interface or host, or of the router in a direct network.
    switch : str or None
        Name of the router's switch in a network that is not direct; else None.
    port : str
        Port with the error: an input, or for a wrong credit an output; for an error of a host, the interface's port to
        the host. Ports of routers have their names in the topology.
    vc : int
        Virtual channel.
    cause : str
        Name of a `Cause`, in words: "wrong order"; for an error of a host, one of
        `wormcast.sim.host.receipts.CAUSES`.
    lane : int
        Lane of the network.
    receipt : WrongReceipt or None
        The wrong flit that a host received.
    """

    component: str
    node: int | None
    switch: str | None
    port: str
    vc: int
    cause: str
    lane: int = 0
    receipt: WrongReceipt | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fault as plain data for JSON."""
        where = {"node": self.node} if self.switch is None else {"switch": self.switch}
        wrong = self.receipt
        flits = {} if wrong is None else {
            "worm": wrong.worm, "flit": wrong.flit, "expected": wrong.expected, "received": wrong.received}
        return {"component": self.component, **where, "port": self.port, "vc": self.vc, "cause": self.cause, **flits}

    def place(self, topology: Topology) -> str:
        """Return the component's name in text output: ``router 1.2``, ``router s3``."""
        name = self.switch if self.node is None else topology.node_name(self.node)
        return f"{self.component} {name}"

    @property
    def flits(self) -> str:
        """Expected and received flit of a wrong receipt, in words; empty for other faults."""
        if self.receipt is None:
            return ""
        wrong = self.receipt
        return f", {wrong.received}" + (
            "" if wrong.flit is None else f" in place of payload flit {wrong.flit}, {wrong.expected}")


def find_faults(engine: BulkEngine) -> tuple[Fault, ...]:
    """Return the first error of each component: errors of routers, kind by kind, then errors of interfaces.

    If no component has detected an error, return the first wrong receipt of a host: a component has lost, repeated or
    changed flits, and has not detected this error. Other wrong receipts are consequences of errors.
    """
    faults, network = [], engine.network
    direct = network.topology.direct
    for kind, block in engine.blocks.items():
        latched = block.output("fault")[:block.n]
        if not latched.any():
            continue
        from wormcast.hw.faults import Cause  # this import loads Amaranth, which is not needed without an error

        component, count = network.components[kind], network.count(kind)

        layout = component.fault_layout
        for instance in np.flatnonzero(latched).tolist():
            fault = int(latched[instance])
            number, port, vc = (fault >> layout[name].offset & (1 << layout[name].width) - 1
                                for name in ("cause", "port", "vc"))
            cause = Cause(number)
            place: dict[str, Any] = {"node": instance % count, "switch": None}
            name = component.fault_ports(cause)[port]
            if kind in network.routers:
                name = network.blueprint.named_kinds[kind].title(name)
                switch = network.switch_of(kind, instance)
                place = {"node": switch, "switch": None} if direct else {
                    "node": None, "switch": network.topology.switch_names[switch]}
            faults.append(Fault("router" if kind in network.routers else "interface", **place,
                                port=name, vc=vc, cause=cause.name.lower().replace("_", " "), lane=instance // count))
    wrong = None if faults else first_wrong_receipt(engine.host)
    if wrong is not None:
        faults.append(Fault("host", wrong.node, None, f"host_out_{wrong.link}", wrong.vc, wrong.cause, wrong.lane,
                            wrong))
    return tuple(faults)


def lost_worms(network: Network, host: Host, fault: Fault, first: int = 0) -> str:
    """Return text that names up to `FEW` worms of the fault's lane that have not arrived; empty if there are none.

    For an error of a router, the text names only worms whose path leads through the router; for an error of a host,
    only the worm of the expected flit, if one was expected. ``first``: number of the first worm in the hosts' program.
    """
    topology, routes = network.topology, network.blueprint.routes
    at = fault.node if fault.switch is None else topology.switch_names.index(fault.switch)
    names = []
    here = host.worms["source"] // network.nodes == fault.lane
    if fault.receipt is not None and fault.receipt.worm is not None:
        here &= np.arange(len(here)) == fault.receipt.worm
    for worm in np.flatnonzero((host.worms["left"] > 0) & here).tolist():
        row = host.worms[worm]
        source = int(row["source"]) % network.nodes
        visits = (host.deliveries["node"][row["delivery"]:row["delivery_end"]] % network.nodes).tolist()
        channels = np.array(network.scheme.channels(routes, source, visits), np.int64)
        passed = topology.links[channels // len(routes.classes)]
        if fault.component != "router" or at in passed[:, [0, 2]]:
            names.append(f"worm {first + worm} (from {topology.node_name(source)} to "
                         f"{' '.join(map(topology.node_name, visits))})")
        if len(names) > FEW:
            break
    return f"; {', '.join(names[:FEW])}{' and others' * (len(names) > FEW)} did not arrive" if names else ""
