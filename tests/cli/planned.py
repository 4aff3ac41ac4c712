"""A multicast on an irregular network, planned in all ways in which the command tells it."""

import json

from command import wormcast

__all__ = ["NETWORK", "TO", "planned"]

NETWORK = "irregular:seed=1"
DESTINATIONS = [1, 5, 9, 13, 17, 22, 30]
TO = ["--source", 12, "--destinations", ",".join(map(str, DESTINATIONS))]


def planned(network, scheme, folder):
    """Plan it in text, as a picture and as JSON, in which each destination is reached once; the JSON."""
    drawing = folder / "plan.svg"
    code, out, err = wormcast("plan", network, scheme, *TO, "--plot", drawing)
    assert (code, err) == (0, "")
    assert drawing.read_text().startswith("<?xml")
    code, told, _ = wormcast("plan", network, scheme, *TO, "--json")
    found = json.loads(told)
    assert code == 0
    assert found["topology"].startswith(f"{network.partition(':')[0]}:")
    assert out.startswith(f"{scheme} on {found['topology']}, from ")
    assert sorted(node for worm in found["worms"] for node in worm["destinations"]) == DESTINATIONS
    assert found["scheme"] == scheme
    return found
