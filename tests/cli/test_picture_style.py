"""Styles of pictures: sizes in papers, files beside them, names and panels that users choose, refusals."""

import csv
import re

import pytest
from command import wormcast

import wormcast as wc
from wormcast.sim.common.picture_style import WIDTHS

PLAN = ["plan", "mesh:4x4", "dual-path", "--source", "1.1", "--destinations", "0.0,0.3,2.2"]
RUN = ["run", "mesh:3x3", "u-mesh", "--source", "4", "--destinations", "0,1,8", "--length", "9", "--t-hs", "5"]
CHECK = ["check", "mesh:4x4", "dual-path", "--consumption", "1"]
PICTURES = [["topology", "ring:4"], ["topology", "min:b=2,stages=3"], PLAN, RUN, CHECK]


def sizes(svg):
    """Give the width and the height of a drawing in inches, and the heights of its letters in points."""
    width, height = (float(re.search(rf'<svg[^>]* {side}="([0-9.]+)pt"', svg)[1]) / 72 for side in ("width", "height"))
    scales = [float(one) for one in re.findall(r'scale\(([0-9.]+) -[0-9.]+\)', svg)]
    return width, height, [100 * scale for scale in scales]  # glyphs are outlines for 100 points


@pytest.mark.parametrize("command", PICTURES, ids=lambda command: " ".join(command[:3]))
@pytest.mark.parametrize("width", ["ieee", "acm", "120"])
def test_in_papers_widths_are_exact_and_letters_have_7_points(command, width, tmp_path):
    file = tmp_path / "picture.svg"
    code, out, err = wormcast(*command, "--plot", file, "--style", "paper", "--width", width)
    assert code in (0, 3)
    assert not err
    wide, _, letters = sizes(file.read_text())
    assert wide == pytest.approx(WIDTHS.get(width) or float(width) / 25.4, abs=0.01)
    assert letters
    assert min(letters) >= 7 - 1e-6
    assert f"caption: {tmp_path}/picture.caption.txt" in out.replace("\n", "")
    caption = (tmp_path / "picture.caption.txt").read_text().splitlines()
    assert caption
    assert caption[0] not in file.read_text()
    with (tmp_path / "picture.data.csv").open() as opened:
        rows = list(csv.DictReader(opened))
    assert rows
    assert not {"True", "False"}.intersection(value for row in rows for value in row.values())


@pytest.mark.parametrize(("command", "grows"), [
    *((command, False) for command in PICTURES), (["topology", "irregular:seed=1"], True)],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, list) else None)
def test_slides_have_the_shape_of_a_slide_letters_of_8_points_and_a_caption_beside(command, grows, tmp_path):
    """The sheet of a network that is too high for 6.4 inches x 3.6 inches grows in both directions."""
    file = tmp_path / "picture.svg"
    code, _, err = wormcast(*command, "--plot", file, "--style", "slides")
    assert code in (0, 3)
    assert not err
    wide, high, letters = sizes(file.read_text())
    assert high == pytest.approx(wide * 9 / 16, abs=0.01)
    assert wide > 6.41 if grows else wide == pytest.approx(6.4, abs=0.01)
    assert min(letters) >= 8 - 1e-6
    assert (tmp_path / "picture.caption.txt").read_text().splitlines()[0] not in file.read_text()
    assert (tmp_path / "picture.data.csv").exists()


def test_a_network_that_is_too_high_for_a_slide_names_the_width_that_it_needs(tmp_path):
    code, _, err = wormcast("topology", "irregular:seed=1", "--plot", "p.svg", "--style", "slides", "--width", "100",
                            cwd=tmp_path)
    assert code == 2
    assert re.search(r"width: 100 is not valid: the picture needs 1\d\d millimetres\. Allowed: 1\d\d to 600", err)


def test_a_picture_for_the_screen_has_its_caption_and_no_files_beside_it(tmp_path):
    assert wormcast(*PLAN, "--plot", tmp_path / "p.svg")[0] == 0
    assert [one.name for one in tmp_path.iterdir()] == ["p.svg"]
    assert "dual-path on mesh:4x4, from 1.1 to 3 nodes" in (tmp_path / "p.svg").read_text()


def test_names_of_ones_own_stand_for_schemes_and_entries_of_legends(tmp_path):
    words = ["--label", "dual-path=DP", "--label", "worm 0=upwards"]
    assert wormcast(*PLAN, "--plot", tmp_path / "p.svg", *words)[0] == 0
    text = (tmp_path / "p.svg").read_text()
    assert "<!-- DP on mesh:4x4" in text
    assert "<!-- upwards -->" in text
    assert "dual-path" not in text
    assert "worm 0" not in text


@pytest.mark.parametrize(("words", "sentence"), [
    (["--style", "poster"], "style: 'poster' is not valid. Allowed: screen, paper, slides."),
    (["--width", "10"], "width: '10' is not valid. Allowed: ieee, ieee-two, acm, acm-two, and 60 to 600 millimetres."),
    (["--panel", "latency"], "panel: 'latency' is not valid: this picture has one panel. Allowed: no panel."),
    (["--width", "59.999"], "width: '59.999' is not valid. Allowed: ieee, "),
    (["--label", "dual-path="], "label: the name of 'dual-path' is empty. Allowed: SCHEME=NAME, with one or more "),
    (["--label", "dual-path=a", "--label", "dual-path=b"], "label: 'dual-path=b' is not valid: dual-path has a name"),
    (["--label", "dp"], "label: 'dp' is not valid. Allowed: SCHEME=NAME, for example dual-path=DP."),
    (["--label", "multipath=M"], "label: 'multipath' is not valid: the picture has no such name. Allowed: dual-path, "),
])
def test_words_that_do_not_fit_are_refused_and_nothing_is_written(words, sentence, tmp_path):
    code, out, err = wormcast(*PLAN, "--plot", "p.svg", *words, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert sentence in err.replace("\n", " ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("width", [25.4 * 3.33, 25.4 * 10 / 3, 60, "84.582"])
def test_widths_in_python_have_any_decimals(width):
    figure = wc.plan("mesh:4x4", "dual-path", 0, [1, 2]).figure(width=width)
    assert figure.get_figwidth() == pytest.approx(float(width) / 25.4, abs=1e-9)


def test_a_label_in_python_is_not_empty():
    with pytest.raises(wc.WormcastError, match="label: the name of 'dual-path' is empty"):
        wc.plan("mesh:4x4", "dual-path", 0, [1, 2]).figure(label={"dual-path": ""})


@pytest.mark.parametrize(("style", "dots"), [("screen", 300), ("paper", 600), ("slides", 400)])
def test_png_files_have_the_dots_of_their_style(style, dots, tmp_path):
    assert wormcast(*PLAN, "--plot", tmp_path / "p.png", "--style", style, "--width", "100")[0] == 0
    header = (tmp_path / "p.png").read_bytes()[:24]
    assert int.from_bytes(header[16:20], "big") == pytest.approx(100 / 25.4 * dots, abs=1)


def test_a_style_needs_a_picture(tmp_path):
    code, _, err = wormcast(*PLAN, "--style", "paper", cwd=tmp_path)
    assert (code, err) == (2, "wormcast: style: paper is not valid without --plot. Needed: --plot FILE.\n")


def test_a_width_that_is_too_small_names_the_width_that_is_needed(tmp_path):
    code, _, err = wormcast("topology", "mesh:12x12", "--plot", "p.svg", "--width", "60", cwd=tmp_path)
    assert code == 2
    assert re.search(r"width: 60 is not valid: the picture needs 1\d\d millimetres\. Allowed: 1\d\d to", err)


@pytest.mark.parametrize(("network", "width"), [("dragonfly:p=2,a=2,h=1", "ieee"), ("dragonfly:p=3,a=2,h=2", "ieee"),
                                                ("dragonfly:p=2,a=4,h=2", "ieee-two"), ("cmesh:4x4x4", "ieee-two"),
                                                ("irregular:seed=1,switches=16", "ieee-two")])
def test_networks_of_a_paper_fit_its_columns(network, width, tmp_path):
    code, _, err = wormcast("topology", network, "--plot", "p.pdf", "--style", "paper", "--width", width, cwd=tmp_path)
    assert (code, err) == (0, "")


def test_a_network_that_fits_no_width_is_refused(tmp_path):
    code, _, err = wormcast("topology", "dragonfly:p=3,a=6,h=3", "--plot", "p.pdf", "--width", "ieee", cwd=tmp_path)
    assert code == 2
    assert re.search(r"needs \d{3,4} millimetres\. Allowed: no width; more than 600 cannot be chosen\.", err)
