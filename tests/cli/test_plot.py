"""Pictures of topologies and plans as the commands give them; those of cycles and loads are with their commands."""

import html
import json
import re

import pytest
from command import wormcast

PLAN = ["plan", "mesh:4x4", "dual-path", "--source", "1.1", "--destinations", "0.0,0.3,2.2,3.0,3.3"]


@pytest.mark.parametrize(("command", "words"), [
    (["topology", "mesh:3x3x3"], "mesh:3x3x3: 27 nodes, 108 links"),
    (PLAN, "dual-path on mesh:4x4, from 1.1 to 5 nodes"),
    (["topology", "mesh:2x2x2x2"], "mesh:2x2x2x2: 16 nodes, 64 links"),
    (["topology", "min:b=2,stages=3"], "min:b=2,stages=3: 8 nodes, 12 switches, 16 links"),
    (["plan", "min:b=2,stages=3", "individual", "--source", "1", "--destinations", "5,7"],
     "individual on min:b=2,stages=3, from 1 to 2 nodes"),
    (["run", "mesh:3x3", "u-mesh", "--source", "4", "--destinations", "0,1,8", "--length", "9", "--t-hs", "5"],
     "u-mesh (reconstructed) on mesh:3x3: 1 message of 9 flits, delivered in cycle"),
    (["run", "mesh:1x4", "k-binomial", "--ni", "fpfs", "--source", "0", "--destinations", "all", "--length", "32",
      "--packet", "16", "--t-hs", "100", "--t-hr", "100", "--ratio", "4"], "packet is sent"),
    (["run", "mesh:1x4", "binomial", "--source", "0", "--destinations", "all", "--length", "32", "--packet", "16"],
     "packet is sent"),
])
def test_a_picture_says_what_it_is_and_json_stays_json(command, words, tmp_path):
    file = tmp_path / "drawn.svg"
    code, out, err = wormcast(*command, "--plot", file)
    assert (code, err) == (0, "")
    assert out.replace("\n", "").endswith(f"picture: {file}")
    first = file.read_bytes()
    assert words in html.unescape(" ".join(re.findall("<!-- (.*?) -->", first.decode())))
    code, out, err = wormcast(*command, "--plot", file, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["plot"] == str(file)
    assert f'"{command[1]}"' in out
    assert file.read_bytes() == first
    for form, begin in {"png": b"\x89PNG", "pdf": b"%PDF", "eps": b"%!PS-Adobe-3.0 EPSF"}.items():
        files = [tmp_path / f"{name}.{form}" for name in ("one", "two")]
        assert [wormcast(*command, "--plot", file)[0] for file in files] == [0, 0]
        assert files[0].read_bytes().startswith(begin)
        assert files[0].read_bytes() == files[1].read_bytes()
        assert b"/Type3" not in files[0].read_bytes()  # journals refuse such fonts


GIF = "plot: a.gif is not valid. Allowed: names that end in .svg, .pdf, .png, .eps."


@pytest.mark.parametrize(("command", "sentence"), [
    (["topology", "mesh:2x2", "--plot", "a.gif"], GIF),
    (["topology", "mesh:2x2", "--plot", "nowhere/a.svg"], "nowhere/a.svg cannot be written: its folder does not exist"),
    ([*PLAN, "--plot", "a.gif"], GIF),
    (["plan", "mesh:2x32", "individual", "--source", "0", "--destinations", ",".join(map(str, range(1, 64))), "--plot",
      "a.svg"], "plot: worms of individual cannot be drawn: 63 lines would be side by side along a link."),
    (["run", "mesh:1x4", "individual", "--source", "0", "--destinations", "1", "--length", "9", "--t-hs", "5",
      "--timeout", "2", "--plot", "a.svg"], "plot: no worm is posted within the 2 cycles of this run."),
    (["run", "mesh:1x4", "k-binomial", "--ni", "fpfs", "--source", "0", "--destinations", "all", "--length", "32",
      "--packet", "16", "--t-hs", "51000", "--plot", "a.svg"],
     "it is too long to show packets at interfaces. Allowed: at most 50000 cycles."),
])
def test_what_cannot_be_drawn_is_one_sentence_and_leaves_nothing(command, sentence, tmp_path):
    code, out, err = wormcast(*command, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert sentence in err.replace("\n", " ")
    assert not list(tmp_path.iterdir())
