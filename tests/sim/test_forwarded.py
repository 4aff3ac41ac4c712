"""Forwarding by smart interfaces, read from their registers: packets in order, in the documented cycles."""

from wormcast.sim.engines.forwarded import follow_forwarding

from .bench import bulk, send


def test_packets_and_copies_of_a_tree():
    engine = bulk("mesh:1x4", "k-binomial", [send(0, 1, 2, 3, length=32)], ni="fpfs", packet=16, t_hs=100, t_hr=100,
                  ratio="4")
    found = follow_forwarding(engine, range(4), 500)
    assert engine.host.counters[0] == 0, "the engine must stand where it stood"
    assert [(one.node, one.place, one.packet) for one in found.stored] == [(0, 0, 0), (0, 1, 1), (2, 0, 0), (2, 1, 1)]
    copies = sorted((one.node, one.begun, one.worm, one.packet) for one in found.copied)
    assert [(node, worm, packet) for node, _, worm, packet in copies] == [
        (0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (2, 2, 0), (2, 2, 1)]
    assert all(one.first - one.begun == 26 and one.last - one.first >= 16 for one in found.copied)
    for kept in found.stored:
        assert kept.freed == max(one.last for one in found.copied
                                 if (one.node, one.packet) == (kept.node, kept.packet))
