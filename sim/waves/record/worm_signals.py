"""Waveform signals that describe links, the worms on them, and ports of routers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from vcd.writer import Variable

from wormcast.algorithms.channels import Resource
from wormcast.hw.input_probe import InputProbe
from wormcast.hw.switch_spec import SwitchSpec

from ...build.fabric import FabricLink
from ...build.network import Network
from .columns import Columns
from .heading import ROUTERS, WORMS, RecordingFacts
from .trace import NOBODY, LinkTrace, vc_at_output, wanted_by

__all__ = ["declare_worms"]

#: Number of bits of a worm's number in a waveform.
NUMBER = 32


def declare_worms(columns: Columns, network: Network, instances: Sequence[tuple[str, int]], about: RecordingFacts,
                  links: Sequence[FabricLink], trace: LinkTrace,
                  named: Mapping[tuple[str, ...], Variable[Any]]) -> list[str]:
    """Declare the signals of links and routers, and return the texts that the numbers ``waits_id`` stand for.

    In the scope `WORMS`, each link has ``flit`` (1 while a flit is on the link), and the flit's ``vc``, ``head`` and
    ``tail``. Each virtual channel or slot has the signals ``worm``, ``holder``, ``kind``, ``front`` and ``waits``:

    - ``worm``: number of the worm that holds the channel, unknown if the channel is free,
    - ``holder``: the worm that holds the channel, as text,
    - ``kind``: kind of this worm's flit on the link: HEAD, DATA or TAIL; empty without a flit,
    - ``front``: worm at the front of the buffer at the channel's end, only for channels that end at a router,
    - ``waits``: resources that the worm in ``front``, or else the holder, requests and does not get,
    - ``waits_id``: ``waits`` as a number, an index into the returned texts; 0 for no resource,
    - ``stored``: number of flits in the buffer at the channel's end, only for channels that end at a router,
    - ``token``: the token that the worm in ``front`` holds, or empty; only for channels to switches with tokens,
    - ``spent``: credits in use at the channel's start, if the component there is recorded; not for slots.

    The scope `ROUTERS` repeats ``flit``, ``holder`` and ``kind`` by router and port. Inputs of routers also have
    ``front`` and ``waits`` as text, ``waits_id``, ``state``, ``goes_to`` and ``stored``. Outputs have ``owner``. In
    deep switches, inputs also have ``rows``, outputs ``reads`` and ``fetches``.

    Parameters
    ----------
    named : mapping of (instance, scope, ..., name) to Variable
        States of the input virtual channels, and credits in use of the output virtual channels, of the recorded
        instances.
    """
    shown, requests = set(instances), {"": 0}
    names = {name: kind.instances for name, kind in network.kinds.items()}
    channel = 0
    for at, link in enumerate(links):
        scope, marks, vc_bits = (*WORMS, link.scope), trace.marks[:, at], (link.vcs - 1).bit_length()
        there, number, head, tail = (marks >> bit & mask for bit, mask in (
            (0, 1), (1, (1 << vc_bits) - 1), (1 + vc_bits, 1), (2 + vc_bits, 1)))
        flit = columns.add(scope, "flit", "wire", 1, there)
        columns.add(scope, "vc", "wire", max(1, vc_bits), number)
        columns.add(scope, "head", "wire", 1, head)
        columns.add(scope, "tail", "wire", 1, tail)
        near, far = ((end.kind, about.lane * network.count(end.kind) + end.instance) for end in (link.near, link.far))
        ports: dict[str, tuple[str, ...]] = {}
        if link.output is not None and near in shown:
            ports["out"] = (*ROUTERS, names[near[0]][near[1]], link.near.port)
        if link.input is not None and far in shown:
            ports["in"] = (*ROUTERS, names[far[0]][far[1]], link.far.port)
        for port in ports.values():
            columns.alias(port, "flit", flit)
        for vc in range(link.vcs):
            inside = f"vc_{vc}"
            held, kinds = trace.held[:, channel], np.where(number == vc, there | head << 1 | tail << 2, 0)
            columns.add((*scope, inside), "worm", "integer", NUMBER, held, _worm(about.worms_before))
            words = {
                "holder": columns.add((*scope, inside), "holder", "string", 1, held, _holder(about.worms_before)),
                "kind": columns.add((*scope, inside), "kind", "string", 1, kinds, _kind),
            }
            at_front = trace.front[:, channel]
            if link.input is not None:
                columns.add((*scope, inside), "front", "integer", NUMBER, at_front, _worm(about.worms_before))
                stored = columns.add((*scope, inside), "stored", "wire", network.configuration.buffer.bit_length(),
                                     trace.stored[:, channel])
                if network.routers[link.far.kind].has_tokens:
                    token = str(Resource.token(*network.ring_of(link.target)))
                    columns.add((*scope, inside), "token", "string", 1, trace.tokens[:, channel],
                                ("", token).__getitem__)
            wanted = trace.asked.__getitem__ if link.input is None else _wanted(network, link, vc)
            requested, where = np.unique(trace.waits[:, channel], return_inverse=True)
            ids = np.array([requests.setdefault(wanted(code), len(requests)) for code in requested.tolist()])
            waits = {"waits": columns.add((*scope, inside), "waits", "string", 1, trace.waits[:, channel], wanted),
                     "waits_id": columns.add((*scope, inside), "waits_id", "integer", NUMBER, ids[where])}
            if near in shown and link.kind != "slots":
                columns.alias((*scope, inside), "spent", named[names[near[0]][near[1]], *_spent(network, link, vc)])
            for port in ports.values():
                for name, variable in words.items():
                    columns.alias((*port, inside), name, variable)
            if "out" in ports:
                router = network.routers[link.near.kind]
                columns.add((*ports["out"], inside), "owner", "string", 1, trace.owners[:, channel],
                            _owner(router, network.configuration.vcs))
                if router.has_rows:
                    for name, codes in (("reads", trace.reads), ("fetches", trace.fetches)):
                        columns.add((*ports["out"], inside), name, "string", 1, codes[:, channel],
                                    trace.words.__getitem__)
            if "in" in ports and link.input is not None:
                port, probe = (*ports["in"], inside), network.probe(link.far.kind, link.input, vc)
                unit, worm = probe.scope.split(".")
                columns.add(port, "front", "string", 1, at_front, _holder(about.worms_before))
                columns.alias(port, "state", named[names[far[0]][far[1]], unit, worm, "state"])
                columns.add(port, "goes_to", "string", 1, trace.targets[:, channel],
                            _targets(network.routers[link.far.kind], probe))
                for name, variable in {**waits, "stored": stored}.items():
                    columns.alias(port, name, variable)
                if network.routers[link.far.kind].has_rows:
                    columns.add(port, "rows", "string", 1, trace.rows[:, channel], trace.words.__getitem__)
            channel += 1
    return list(requests)


def _spent(network: Network, link: FabricLink, vc: int) -> tuple[str, ...]:
    """Return the name of the register with the credits in use of a virtual channel, in the link's driver."""
    if link.output is None:
        unit: tuple[str, ...] = f"injection_{link.number}", "output"
    else:
        unit = (f"{network.routers[link.near.kind].outputs[link.output].name}_output",)
    return *unit, f"vc{vc_at_output(network, link, vc)}_spent"


def _kind(code: int) -> str:
    there, head, tail = code & 1, code >> 1 & 1, code >> 2 & 1
    return "" if not there else "TAIL" if tail else "HEAD" if head else "DATA"


def _holder(before: int) -> Callable[[int], str]:
    return lambda worm: "" if worm == NOBODY else f"worm_{worm + before}"


def _worm(before: int) -> Callable[[int], int | str]:
    return lambda worm: "x" if worm == NOBODY else worm + before


def _wanted(network: Network, link: FabricLink, vc: int) -> Callable[[int], str]:
    return lambda code: wanted_by(network, link, vc, code)


def _owner(router: SwitchSpec, vcs: int) -> Callable[[int], str]:
    def owner(code: int) -> str:
        port, vc = divmod(code - 1, vcs)
        return f"{router.inputs[port].name}_in.vc_{vc}" if code else ""

    return owner


def _targets(router: SwitchSpec, probe: InputProbe) -> Callable[[int], str]:
    def targets(code: int) -> str:
        links, here = probe.ways(code)
        ejection_ports = ["here" if len(probe.ejection_ports) == 1 else router.outputs[output].name for output in here]
        return "+".join([router.outputs[output].name for output in links] + ejection_ports)

    return targets
