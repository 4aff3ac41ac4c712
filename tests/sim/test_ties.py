"""Ties on even rings, plus or signed: where worms go in both engines, what their headers say, and what is refused."""

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import E_CUBE, WormcastError, find_scheme, topology, without_classes
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.routing import with_ties
from wormcast.sim import Configuration, Network, run

from . import test_flit_reference_networks as second
from .bench import send
from .flit_reference import Net
from .test_engines_agree import Draw, compare

#: Cases by network: source, destination, its coordinates in bits; for each rule the outputs on the worm's path, and the
#: signs in its header. South and east are up.
WAYS = {
    "ring:4": [(2, 0, "00", {"plus": ("d0_plus d0_plus", ""), "signed": ("d0_minus d0_minus", "1")}),
               (0, 2, "10", {"plus": ("d0_plus d0_plus", ""), "signed": ("d0_plus d0_plus", "0")})],
    "ring:6": [(5, 2, "010", {"plus": ("d0_plus d0_plus d0_plus", ""), "signed": ("d0_minus d0_minus d0_minus", "1")}),
               (5, 1, "001", {"plus": ("d0_plus d0_plus", ""), "signed": ("d0_plus d0_plus", "1")})],
    "torus:4x4": [("0.2", "2.0", "1000", {"plus": ("east east south south", ""),
                                          "signed": ("west west south south", "01")}),
                  ("2.0", "0.2", "0010", {"plus": ("east east south south", ""),
                                          "signed": ("east east north north", "10")})],
}
APART = 30  # cycles, in which the first worm is through


@pytest.mark.parametrize(("name", "ties"), [
    slow("ring:4", "plus"), ("ring:4", "signed"), slow("ring:6", "signed"), slow("torus:4x4", "plus"),
    slow("torus:4x4", "signed")])
def test_both_engines_send_worms_the_same_way_round_with_signs_in_their_headers(name, ties):
    network = topology(name)
    pairs = [(network.node(source), network.node(to)) for source, to, _, _ in WAYS[name]]
    messages = [send(*pair, length=1, at=at) for at, pair in zip((0, APART), pairs, strict=True)]
    seen = compare(Draw(name, "individual", {"ties": ties}, messages, 0.0, 1), 2 * APART)
    for number, ((source, to), (_, _, address, ways)) in enumerate(zip(pairs, WAYS[name], strict=True)):
        outputs, signs = ways[ties]
        hops = [(port.removesuffix("_out"), switch, word) for cycle in seen[number * APART:(number + 1) * APART]
                for (kind, port), words in sorted(cycle.items())
                if kind == "router" and port.endswith("_out") and port != "local_out"
                for switch, word in enumerate(words) if word & 0b101 == 0b101]  # valid, and a header
        assert [port for port, _, _ in hops] == outputs.split()
        planned = plan(network, routed(name, ties), source, [to]).worms[0].links
        assert [switch for _, switch, _ in hops] == [start for start, _ in planned]
        for _, _, word in hops:  # behind valid, one bit of virtual channel, head and tail
            assert format(word >> 4, "b").zfill(32)[-len(signs + address):] == signs + address


def routed(name, ties):
    scheme = find_scheme("individual", topology(name))
    return scheme.routed_by(with_ties(scheme.relation, topology(name), ties))


def straight(extent, at, to, ties):
    """The step around a ring: the shorter way, of two that are as long upwards, or not over the edge."""
    up, down = (to - at) % extent, (at - to) % extent
    if up == down and ties == "signed":
        return 1 if to > at else -1
    return 1 if up <= down else -1


def torus_net(shape, ties):
    """A torus, or a ring, as the second simulator takes it: ports up and down each dimension, the last one first."""
    nodes = list(np.ndindex(*shape))
    steps = [(d, step) for d in reversed(range(len(shape))) for step in (1, -1)]
    links, routes = [], np.full((len(nodes), len(steps) + 1, len(nodes)), len(steps))
    for node, at in enumerate(nodes):
        for output, (d, step) in enumerate(steps):
            far = tuple((one + step * (e == d)) % shape[e] for e, one in enumerate(at))
            links.append((node, output, nodes.index(far), output ^ 1))
        for end, to in enumerate(nodes):
            wrong = [d for d in range(len(shape)) if at[d] != to[d]]
            if wrong:
                d = wrong[-1]
                routes[node, :, end] = steps.index((d, straight(shape[d], at[d], to[d], ties)))
    ends = [(node, len(steps)) for node in range(len(nodes))]
    return Net(links, ends, ends, routes)


@pytest.mark.parametrize(("name", "rate", "ties"), [
    ("ring:6", 0.1, "plus"), ("torus:4x4", 0.2, "signed"), slow("ring:6", 0.1, "signed"),
    slow("torus:4x4", 0.2, "plus")])
def test_every_message_comes_in_the_cycle_in_which_the_second_simulator_says_so(name, rate, ties, monkeypatch):
    """It knows no classes of virtual channels, so they are taken away."""
    monkeypatch.setattr(second, "net_of", lambda built: torus_net(built.shape, ties))
    second.agree(name, {**second.TWO, "vc_classes": "none", "ties": ties}, rate, 3000)


def test_the_comparison_notices_the_other_rule(monkeypatch):
    monkeypatch.setattr(second, "net_of", lambda built: torus_net(built.shape, "plus"))
    with pytest.raises(AssertionError, match="of"):
        second.agree("ring:6", {**second.TWO, "vc_classes": "none", "ties": "signed"}, 0.1, 3000)


@pytest.mark.parametrize(("name", "address", "signs"), [
    ("ring:6", 3, 1), ("torus:4x4", 4, 2), ("torus:3x4", 4, 1), ("torus:2x2x5", 5, 2)])
def test_flits_that_are_too_narrow_for_the_signs_are_refused(name, address, signs):
    network, least = topology(name), address + signs
    scheme, messages = find_scheme("individual", network), [send(0, network.nodes - 1)]
    needed = rf"\({address} for an address, {signs} for its signs\)\. Allowed: {least} or more\."
    with pytest.raises(WormcastError, match=f"^flit_width: {least - 1} is not valid: .* {needed}$"):
        run(network, scheme, messages, Configuration(ties="signed", flit_width=least - 1))
    assert Network(network, scheme, Configuration(ties="signed", flit_width=least)).header.address_bits == least


def test_signs_are_read_without_classes_too():
    """Classes are removed by the option, or by the relation; before or after ties are signed."""
    ring = topology("ring:4")
    found = find_scheme("individual", ring)
    for scheme, options in ((found, {"vc_classes": "none"}), (found.routed_by(without_classes(E_CUBE)), {})):
        assert Network(ring, scheme, Configuration(ties="signed", **options)).header.address_bits == 3


@pytest.mark.parametrize(("name", "scheme", "relation"), [
    ("mesh:4x4", "dual-path", None), ("torus:5x3", "individual", None), ("ring:6", "individual", "e-cube-either"),
    ("ring:6", "individual", "up-down"), ("min:b=2,stages=2", "individual", None),
])
def test_where_e_cube_has_no_ties_signs_change_nothing(name, scheme, relation):
    """Meshes, odd rings, other relations and networks: the same headers, routes and hardware."""
    network = topology(name)
    found = find_scheme(scheme, network, relation)
    plus, signed = (Network(network, found, Configuration(ties=ties)) for ties in ("plus", "signed"))
    assert plus.header == signed.header
    assert plus.blueprint.relation is signed.blueprint.relation
    assert [one.decoder.signature for one in plus.routers.values()] == [
        one.decoder.signature for one in signed.routers.values()]


def test_ideal_headers_have_room_for_the_signs():
    torus = topology("torus:4x4")
    widths = {ties: Configuration(ties=ties, header="ideal", flit_width=1).for_headers(
        torus, find_scheme("individual", torus), 3).flit_width for ties in ("plus", "signed")}
    assert widths == {"plus": 4, "signed": 4 + 2}  # a unicast has one address
