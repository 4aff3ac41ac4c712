"""Configurations and table of ``make costs``. No synthesis tool runs."""

from types import SimpleNamespace

from tools import costs
from wormcast.sim.export.synthesis import Synthesis


def test_table_and_what_multicast_takes(monkeypatch, capsys):
    routers = [entry for entry in costs.ROUTERS if any(entry[0] in pair for pair in costs.PAIRS)]
    monkeypatch.setattr(costs, "ROUTERS", routers)
    monkeypatch.setattr(costs, "INTERFACES", costs.INTERFACES[:1])
    built = []

    def run(points, seeds, progress):
        for point in points:
            built.append(point.component())
            multicast = point.resolved["scheme"] != "individual"
            yield Synthesis("ecp5", {"LUT4": 1100 if multicast else 1000, "FF": 500, "DPR16X4": 45, "CCU2C": 0})

    class Kernels(dict):
        def __missing__(self, kind):
            return SimpleNamespace(operations=90, state_bytes=10.4)

    monkeypatch.setattr(costs, "run", run)
    monkeypatch.setattr(costs, "kernels", lambda network: Kernels())
    costs.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "| component | with | operations | bytes | LUT4 | FF | DPR16X4 |"
    assert lines[4] == "| router | dual-path, 2 VCs x 4, C = 2 | 90 | 10 | 1100 | 500 | 45 |"
    assert [line for line in lines if line.startswith("- ")] == [
        f"- {with_it}, against {without}: LUT4 +10.0%, FF +0.0%, operations +0.0%" for with_it, without in costs.PAIRS]
    dual_path, alone = built[:2]
    assert (dual_path.decoder.multicast, alone.decoder.multicast) == (True, False)
    assert dual_path.decoder.relations == alone.decoder.relations == ("hamiltonian",)


def test_all_that_is_compared_can_be_built():
    for kind, entries in (("router", costs.ROUTERS), ("interface", costs.INTERFACES)):
        for _, scheme, options in entries:
            costs.build(kind, None, {**costs.BASE, "scheme": scheme, **options})
    assert {name for pair in costs.PAIRS for name in pair} <= {name for name, _, _ in costs.ROUTERS}
