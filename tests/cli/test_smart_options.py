"""Options of smart interfaces: what is refused, in one sentence each."""

import json

import pytest
from command import wormcast

MULTICAST = {"mesh:1x4": "run mesh:1x4 {} --source 0 --destinations 1,2,3 --length 32",
             "mesh:4x4": "run mesh:4x4 {} --source 0 --destinations all --length 32"}
SMART = "--ni fpfs --packet 16"


@pytest.mark.parametrize(("network", "scheme", "options", "sentence"), [
    ("mesh:1x4", "k-binomial:k=0", SMART,
     "scheme: k '0' of 'k-binomial:k=0' is not valid. Allowed: whole numbers from 1 to 12."),
    ("mesh:1x4", "k-binomial", f"{SMART} --ratio 0",
     "ratio: '0' is not valid. Allowed: numbers above 1e-6 and below 1e6."),
    ("mesh:1x4", "k-binomial", f"{SMART} --ratio half",
     "ratio: 'half' is not valid. Allowed: numbers above 1e-6 and below 1e6."),
    ("mesh:1x4", "k-binomial", f"{SMART} --ratio 2 --t-hs 100 --t-ns 3",
     "t-ns: 3 is not valid: --ratio 2 sets it to 50. Allowed: one of the two options."),
    ("mesh:1x4", "k-binomial", f"{SMART} --ratio 0.001 --t-hr 100",
     "ratio: 0.001 is not valid: it sets --t-nr to 100000, above 65535. Allowed: 0.001526 or more."),
    ("mesh:1x4", "k-binomial", f"{SMART} --dma 0/3",
     "dma: '0/3' is not valid. Allowed: FLITS or FLITS/CYCLES, each 1 to 9999, for example 4/3."),
    ("mesh:1x4", "k-binomial", f"{SMART} --dma 4/3/2",
     "dma: '4/3/2' is not valid. Allowed: FLITS or FLITS/CYCLES, each 1 to 9999, for example 4/3."),
    ("mesh:1x4", "k-binomial", f"{SMART} --dma 4/",
     "dma: '4/' is not valid. Allowed: FLITS or FLITS/CYCLES, each 1 to 9999, for example 4/3."),
    ("mesh:1x4", "k-binomial", f"{SMART} --dma-buckets both",
     "dma-buckets: 'both' is not valid. Allowed: shared, separate."),
    ("mesh:1x4", "k-binomial", "--ni fcfs --packet 4",
     ("places: 4 (the default) is not valid: ni fcfs keeps all packets of a message, and a message of 32 flits has 8. "
      "Needed: --places 8 to 256.")),
    ("mesh:4x4", "k-binomial:k=4", f"{SMART} --row 3",
     "row: 3 is not valid: the headers of all children of node 0 have 4 flits. Allowed: 4 to 1024."),
    ("mesh:1x4", "k-binomial", f"{SMART} --rows 3",
     "rows: 3 is not valid with --ni fpfs. Allowed: powers of two up to 64."),
    ("mesh:1x4", "k-binomial", f"{SMART} --places 257", "places: 257 is not valid. Allowed: 1 to 256."),
    ("mesh:1x4", "k-binomial", "--ni fpfs",
     ("ni: fpfs is not valid with --packet 0 (the default): a smart interface forwards packets. Allowed: with --packet "
      "1 to 65535.")),
    ("mesh:1x4", "k-binomial", "--ni clever", "ni: 'clever' is not valid. Allowed: conventional, fcfs, fpfs."),
    ("mesh:1x4", "k-binomial", "--packet 16",
     ("scheme: k-binomial is not valid with --ni conventional (the default): network interfaces forward its worms. "
      "Allowed: with --ni fcfs or with --ni fpfs.")),
    ("mesh:1x4", "k-binomial", "--ni fcfs --packet 1 --length 300",
     ("places: 4 (the default) is not valid: ni fcfs keeps all packets of a message, and a message of 300 flits has "
      "300. Needed: --places 256, with longer packets.")),
    ("mesh:1x4", "k-binomial", f"{SMART} --absorb host", "absorb: host is not valid with --ni fpfs. Allowed: off."),
])
def test_bad_input_is_one_sentence(network, scheme, options, sentence):
    code, out, err = wormcast(*MULTICAST[network].format(scheme).split(), *options.split())
    assert (code, out, err) == (2, "", f"wormcast: {sentence}\n")


def test_a_run_tells_what_interfaces_have_counted():
    """Two packets, each sent to two children by the source and to one by another node."""
    _, told, _ = wormcast("run", "mesh:1x4", "k-binomial:k=2", "--source", 0, "--destinations", "1,2,3", "--length", 32,
                          "--packet", 16, "--ni", "fpfs", "--json")
    source, between = json.loads(told)["interfaces"]
    assert (source["node"], source["forwarded"], between["node"], between["forwarded"]) == (0, 2, 2, 2)
    assert 2 * 2 * 17 <= source["copied"] < source["resident"]
    assert 2 * 17 <= between["copied"] < source["copied"]
    _, told, _ = wormcast("run", "mesh:1x4", "k-binomial:k=2", "--source", 0, "--destinations", "1,2,3", "--length", 32,
                          "--packet", 16, "--ni", "fpfs")
    assert "since first copy" in told
