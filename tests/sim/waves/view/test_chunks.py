"""Rows of deep switches, read back from waveforms: told, drawn, replayed."""

import random

import pytest

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.sim import Configuration, Message, run
from wormcast.sim.common.figure_file import save_figure
from wormcast.sim.experiments.message_file import MessageFile, messages_in
from wormcast.sim.waves.view import choose_ports, of_worms, read_waveform, rows_of, spacetime_figure

from .test_replay import data_of, replay_page
from .test_spacetime import group

STAR = topology("examples/networks/star.toml")
HARDWARE = Configuration(vcs=1, consumption=1, buffer_kind="deep", buffer=32, chunk=8)


@pytest.fixture(scope="module")
def star(tmp_path_factory):
    """The example of docs/waveforms.md."""
    file = tmp_path_factory.mktemp("chunks") / "w.vcd"
    messages = messages_in(MessageFile("examples/deep.jsonl", "messages", 100, 100), STAR)
    assert run(STAR, SCHEMES["tree"], messages, HARDWARE, vcd=file).outcome == "delivered"
    return file


@pytest.fixture(scope="module")
def history(star):
    return read_waveform(star)


def test_a_chunk_from_its_first_flit_to_its_counters_zero(history):
    [chunk, *_] = [one for one in history.chunks if (one.switch, one.port) == ("s0", "n0")]
    assert (chunk.row, chunk.worm, chunk.first, chunk.last, chunk.freed) == (0, 1, 9, 51, True)
    assert chunk.flits == tuple((8 + k, k) for k in range(1, 9))
    assert (chunk.counts, chunk.fetches) == (((18, 1),), ((51, "p0"),))


def test_what_outputs_read(history):
    found = [(one.output, one.row, one.worm, one.first, one.last, one.follows) for one in history.readings
             if (one.switch, one.port) == ("s0", "n0")]
    assert found == [("p1", 0, 1, 10, 16, True), ("p1", 1, 1, 17, 24, True), ("p1", 2, 1, 25, 29, True),
                     ("p0", 0, 1, 51, 61, False), ("p0", 1, 1, 62, 69, False), ("p0", 2, 1, 70, 74, False)]


def test_a_window_keeps_what_holds_in_it(history):
    [chunk, *_] = [one for one in history.between(20, 40).chunks if one.port == "n0" and one.switch == "s0"]
    assert (chunk.first, chunk.last, chunk.freed) == (20, 39, False)
    assert (chunk.flits, chunk.counts, chunk.fetches) == (((20, 8),), ((20, 1),), ())
    [reading] = [one for one in history.between(60, 62).readings if one.switch == "s0"]
    assert (reading.first, reading.last, reading.places) == (60, 61, ((60, 6), (61, 7)))


def test_the_picture_has_rows_fetches_and_zeros(history, tmp_path):
    one = of_worms(history, [1])
    lanes = choose_ports("s0", one.chunks, one.readings)
    assert lanes == [("s0", "n0", 0), ("s0", "n0", 1), ("s0", "n0", 2), ("s0", "p0", None), ("s0", "p1", None)]
    save_figure(spacetime_figure([(one, rows_of(one))]), tmp_path / "without", "svg")
    save_figure(spacetime_figure([(one, rows_of(one))], lanes=[lanes]), tmp_path / "with", "svg")
    text = (tmp_path / "with").read_text()
    for name, most in (("chunks-1", 3), ("readings-1", 6)):
        assert group(text, name).count("<path d=") == most
        assert f'id="{name}"' not in (tmp_path / "without").read_text()
    assert [group(text, name).count("<use ") for name in ("fetches", "freed")] == [3, 3]


def test_the_page_has_what_is_told(history):
    data = data_of(replay_page(history))
    assert len(data["chunks"]) == len(history.chunks)
    assert ["s0.n0", 0, 1, 9, 51, [n for k in range(1, 9) for n in (8 + k, k)], [18, 1], [51, "p0"]] in data["chunks"]
    assert ["s0.n0", 2, "p0", 1, 70, 74, [70, 0, 71, 1, 72, 2, 73, 3, 74, 4], False] in data["readings"]


@pytest.mark.parametrize(("text", "sentence"), [
    ("s9", "buffers: 's9' is not valid. Allowed: all, or switches and ports of the waveform, separated by commas, for"),
    ("s0.n7", "buffers: 's0.n7' is not valid. Allowed: all"),
])
def test_ports_that_are_not_there_are_refused(history, text, sentence):
    with pytest.raises(WormcastError) as error:
        choose_ports(text, history.chunks, history.readings)
    assert str(error.value).startswith(sentence)


def test_a_waveform_without_deep_switches_has_none_to_draw():
    with pytest.raises(WormcastError, match=r"^buffers: 'all' is not valid: in these cycles no buffer of a deep"):
        choose_ports("all", [], [])


def test_what_is_no_row_is_damage(star, tmp_path):
    text = star.read_text()
    assert "s0+3 " in text
    (tmp_path / "w.vcd").write_text(text.replace("s0+3 ", "s0*3 ", 1))
    with pytest.raises(WormcastError, match=r"w.vcd is damaged .a signal of s.* has the value '0\*3' at \d+"):
        read_waveform(tmp_path / "w.vcd")


def test_trees_on_their_way_are_stored_counted_and_fetched(tmp_path):
    """Every row that comes and goes has its worm's flits, and a fetch for each that its counter counts."""
    rng, length = random.Random(5), 21
    messages = []
    for _ in range(14):
        source, *others = rng.sample(range(STAR.nodes), 5)
        messages.append(Message(rng.randrange(60), source, tuple(others), length))
    result = run(STAR, SCHEMES["tree"], messages, HARDWARE, vcd=tmp_path / "w.vcd")
    history = read_waveform(tmp_path / "w.vcd")
    header = result.network.blueprint.header_flits
    stored, counted, most = {}, 0, 0
    for chunk in history.chunks:
        assert chunk.freed
        assert [flits for _, flits in chunk.flits] == list(range(1, len(chunk.flits) + 1))
        key = chunk.switch, chunk.port, chunk.worm
        stored[key] = stored.get(key, 0) + len(chunk.flits)
        counts = dict(chunk.counts)
        assert [count for _, count in chunk.counts] == list(range(len(chunk.fetches), 0, -1))
        assert [cycle for cycle, _ in chunk.fetches] == [*(cycle - 1 for cycle in list(counts)[1:]),
                                                         *([chunk.last] if counts else [])]
        counted, most = counted + len(chunk.fetches), max(most, len(chunk.fetches))
    assert set(stored.values()) == {length + header}
    assert {worm for *_, worm in stored} == set(range(14))
    assert (counted > 0, most > 1) == (True, True)
    read = {(one.switch, one.port, one.worm) for one in history.readings}
    assert read == stored.keys()
    for one in history.readings:
        assert [place for _, place in one.places] == sorted({place for _, place in one.places})
