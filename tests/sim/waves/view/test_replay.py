"""The page as a file; what it shows in a browser is in test_replay_browser."""

import json
import re
from dataclasses import replace

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.common import frame
from wormcast.sim.waves.view.replay import replay_page, write_replay
from wormcast.sim.waves.view.worm_choice import colours_of

from .made import crossing, figure_4


def data_of(page):
    [text] = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


def test_page_needs_nothing_from_anywhere():
    """No address in it but the name of SVG, which is no place; and a policy that lets nothing be loaded."""
    page = replay_page(crossing("mesh:4x4", 5))
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.findall(r"<(?:script|img|iframe)[^>]* src=|@import|url\(", page)
    assert re.findall("<link.*", page) == ['<link rel="icon" href="data:,">']
    assert "default-src 'none'" in page
    assert "{{" not in page


def test_an_8x8_mesh_with_thirty_worms_is_well_below_a_megabyte():
    page = replay_page(crossing("mesh:8x8", 30, length=64, spread=1000))
    assert len(page.encode()) < 300_000


def test_nothing_in_the_data_ends_the_script():
    history = replace(figure_4(), configuration={"classes": "</script><script>alert(1)</script>"})
    page = replay_page(history)
    assert page.count("</script>") == 2
    assert ["classes", "</script><script>alert(1)</script>"] in data_of(page)["hardware"]


def test_it_opens_where_the_first_worm_comes():
    """Not on cycles in which nothing is to be seen."""
    assert data_of(replay_page(figure_4()))["opens"] == 3
    assert data_of(replay_page(replace(figure_4(), holds=(), waits=(), deadlock=None)))["opens"] == 0


def test_flits_are_kept_as_stretches():
    history = figure_4()
    for hold, (_, _, first, last, ended, lengths) in zip(history.holds, data_of(replay_page(history))["holds"],
                                                         strict=True):
        flits, now = [], first
        for without, with_one in zip(lengths[::2], lengths[1::2], strict=True):
            flits += range(now + without, now + without + with_one)
            now += without + with_one
        assert (first, last, bool(ended), tuple(flits)) == (hold.first, hold.last, hold.ended, hold.flits)


def test_colours_are_those_of_the_other_pictures():
    history = crossing("mesh:4x4", 12)
    page = replay_page(history)
    light = re.search(r":root \{(.*?)\}", page, re.DOTALL)[1]
    palette = re.findall(r"--c\d: (#\w+);", light)
    assert tuple(palette) == frame.COLOURS
    assert {number: palette[colour] for number, _, _, colour in data_of(page)["worms"]} == colours_of(history)


def test_file_is_written_whole_or_not_at_all(tmp_path):
    write_replay(figure_4(), tmp_path / "replay.html")
    assert (tmp_path / "replay.html").read_text(encoding="utf-8") == replay_page(figure_4())
    with pytest.raises(WormcastError, match="cannot be written"):
        write_replay(figure_4(), tmp_path / "nowhere" / "replay.html")
    assert [path.name for path in tmp_path.iterdir()] == ["replay.html"]
