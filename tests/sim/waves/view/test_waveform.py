"""Histories, read back from waveforms that are written by hand."""

import gzip
import json
import re
import time
from pathlib import Path

import pytest
from written_waves import FIGURE_4, comment, links_of, vcd, worm

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.sim import Configuration, Message, run
from wormcast.sim.waves.view import RecordedHold, Wait, read_waveform
from wormcast.sim.waves.view.vcd import Wave


def read(tmp_path, said, holds, waits=()):
    path = tmp_path / "w.vcd"
    path.write_text(vcd(said, holds, waits))
    return read_waveform(path)


def shown(history):
    """Holds by the names of their links."""
    return [(history.links[hold.link].name, hold.vc, hold.worm, hold.first, hold.last, hold.ended)
            for hold in history.holds]


def test_all_of_it_is_read(tmp_path):
    said, holds, waits = FIGURE_4
    history = read(tmp_path, said, holds, waits)
    assert (history.topology.name, history.scheme, history.first, history.end) == ("mesh:1x4", "dual-path", 0, 30)
    assert history.configuration == said["configuration"]
    assert history.deadlock == said["deadlock"]
    assert [link.name for link in history.links] == [link["name"] for link in said["links"]]
    assert (history.worms[1].source, history.worms[1].destinations, history.worms[1].length) == (3, (2, 1), 8)
    assert sorted(shown(history)) == sorted((*hold[:4], 29, False) for hold in holds)
    assert next(hold for hold in history.holds if history.links[hold.link].name == "cons:1#0") == RecordedHold(
        11, 0, 0, 10, 29, (10, 11, 12), False)
    assert history.waits == (Wait(0, 2, 0, 13, 29, ("cons:2:0",)), Wait(1, 3, 0, 15, 29, ("cons:1:0",)))
    assert history.deliveries == []


def test_a_hold_has_the_cycles_of_its_flits_on_its_own_virtual_channel(tmp_path):
    said = comment(links_of(2, vcs=2, consumption=2), [worm(0, 0, [1]), worm(1, 0, [1])], 12)
    holds = [("link:0>1", 0, 0, 2, "F.F.F.T"), ("link:0>1", 1, 1, 3, "F...F.T"), ("cons:1#0", 1, 1, 4, "..FT")]
    history = read(tmp_path, said, holds)
    flits = {(history.links[hold.link].name, hold.vc): hold.flits for hold in history.holds}
    assert flits == {("link:0>1", 0): (2, 4, 6, 8), ("link:0>1", 1): (3, 7, 9), ("cons:1#0", 1): (6, 7)}
    assert all(hold.ended for hold in history.holds)
    assert [hold.vc for hold in history.deliveries] == [1]


def test_worms_follow_each_other_without_a_pause(tmp_path):
    """Of two worms, and of two packets of one worm: the tail tells them apart."""
    said = comment(links_of(2), [worm(0, 0, [1]), worm(1, 0, [1])], 12)
    history = read(tmp_path, said, [("link:0>1", 0, 0, 1, "FFT"), ("link:0>1", 0, 0, 4, "FT"),
                                    ("link:0>1", 0, 1, 6, "FT")])
    assert shown(history) == [("link:0>1", 0, 0, 1, 3, True), ("link:0>1", 0, 0, 4, 5, True),
                              ("link:0>1", 0, 1, 6, 7, True)]


def test_a_window_begins_and_ends_amid_worms(tmp_path):
    said = comment(links_of(2), [worm(0, 0, [1]), worm(1, 0, [1])], 20, first=10)
    history = read(tmp_path, said, [("link:0>1", 0, 0, 5, "FFFFFFFT"), ("link:0>1", 0, 1, 15, "FFFFFFFF")])
    assert shown(history) == [("link:0>1", 0, 0, 10, 12, True), ("link:0>1", 0, 1, 15, 19, False)]
    assert history.holds[0].flits == (10, 11, 12)


def test_a_wait_is_of_the_worm_at_the_front(tmp_path):
    """Worm 1 comes in behind worm 0; it is the one that waits once worm 0 has gone on."""
    said = comment(links_of(3), [worm(0, 0, [2]), worm(1, 0, [2])], 40, first=2)
    holds = [("link:0>1", 0, 1, 4, "F.............FT"), ("link:1>2", 0, 0, 10, "FFT"),
             ("link:1>2", 0, 1, 18, "FFT"), ("cons:2#0", 0, 0, 12, "FFT"), ("cons:2#0", 0, 1, 20, "FFT")]
    waits = [("link:0>1", 0, 0, 4, 9, ["link:1>2:0"]), ("link:0>1", 0, 1, 10, 17, ["link:1>2:0"])]
    history = read(tmp_path, said, holds, waits)
    assert [(wait.worm, wait.first, wait.last) for wait in history.waits] == [(0, 4, 9), (1, 10, 17)]


@pytest.mark.parametrize(("change", "sentence"), [
    (lambda text: "", "it is no VCD file. Allowed"),
    (lambda text: "some text\n", "it is no VCD file. Allowed"),
    (lambda text: "\x89PNG\xff", "it is no VCD file. Allowed"),
    (lambda text: text[:text.index("$enddefinitions")], "is damaged (it ends within the declarations of its signals"),
    (lambda text: text[text.index("$timescale"):], "has no worms. Needed: a waveform that run or load"),
    (lambda text: text.replace("$comment wormcast {", "$comment wormcast $end $comment {", 1), "has no worms. Neede"),
    (lambda text: text.replace('"links"', '"links', 1), "is damaged (its comment is not JSON, "),
    (lambda text: text.replace('"first": 0', '"first": "0"', 1), "its comment gives first as '0'"),
    (lambda text: text.replace('"end": 30', '"end": 0', 1), "its comment gives cycles 0 to 0 of 1000000 fs"),
    (lambda text: text.replace('"source": 3', '"source": 4', 1), "its comment gives source of worm 1 as 4, and"),
    (lambda text: text.replace('"vcs": 1,', '"vcs": null,', 2), "its comment gives vcs of link 0 as None"),
    (lambda text: text.replace("cons:3#0", "of:3", 1), "its comment gives link 13 the name 'of:3', which no link"),
    (lambda text: text.replace('"destinations": [2, 1]', '"destinations": [2, 7]'), "destinations of worm 1 as [2, 7]"),
    (lambda text: text.replace("mesh:1x4", "mesh:1y4"), "its comment gives topology: 'mesh:1y4' is not valid"),
    (lambda text: text.replace('"at": 29', '"on": 29'), "its comment gives at of deadlock as None"),
    (lambda text: text.replace(" worm $end", " work $end", 1),
     "it has no signal bench.top.worms.link_0_to_1.vc_0.worm, which its comment names"),
    (lambda text: text[:text.index("#20000000")], "it ends in cycle 20, but its comment has cycles up to 29"),
    (lambda text: text.replace("#20000000\n", "#2x\n"), "'#2x', is neither a change of a signal"),
    (lambda text: text.replace("#20000000\n", "worms\n"), "'worms', is neither a change of a signal"),
    (lambda text: text.replace("#20000000\n", "#1000000\n"), "'#1000000', is neither a change of a signal nor a later"),
    *((lambda text, junk=junk: f"{text}{junk}\n", f"'{said}', is neither a change of a signal") for junk, said in (
        ("$junk", "$junk"), ("$scope module a $end", "$scope module a $end"), ("1", "1"), ("1~nobody", "1 ~nobody"),
        ("b101 ~nobody", "101 ~nobody"), ("b101\n ~nobody", "101 ~nobody"))),
    *((lambda text, junk=junk: f"{text}{junk}\n", "damaged (it ends within a ch") for junk in ("b", "strap", "rest")),
    (lambda text: f"{text}#31000000\n", "it continues at 31000000, but its comment has cycles up to 29"),
    (lambda text: text[:-4], "is neither a change of a signal nor a later time"),
    (lambda text: text.replace('"worm": 1, "message"', '"worm": 2, "message"'), "its signals have worm 1, which its"),
])
def test_what_is_no_whole_waveform_is_refused(tmp_path, change, sentence):
    path = tmp_path / "w.vcd"
    path.write_bytes(change(vcd(*FIGURE_4)).encode("latin1"))
    with pytest.raises(WormcastError) as refused:
        read_waveform(path)
    assert sentence in str(refused.value)
    assert str(refused.value).startswith(str(path))


VAR = re.compile(r"(\$var \w+ (\d+) \S+ \S+) \$end")


@pytest.mark.parametrize("change", [
    lambda text: text[:-1],
    lambda text: f"$comment written by another tool $end\n{text}",
    lambda text: text.replace("$timescale", "$comment more $end\n$version 3 $end $timescale", 1),
    lambda text: " ".join(text.split()),
    lambda text: "\n".join(text.split()),
    lambda text: "\t".join(text.split(" ")),
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text.replace("\n\n", "\n").replace("#20000000\n", "#20000000 "),
    lambda text: text.replace("#20000000\n", "$comment amid\nit all $end\n#20000000\n\n"),
    lambda text: VAR.sub(lambda found: f"{found[1]}[{int(found[2]) - 1}:0] $end", text),
    lambda text: VAR.sub(lambda found: f"{found[1]} [{int(found[2]) - 1}:0] $end", text),
    lambda text: gzip.compress(text.encode()),
    lambda text: b"\xef\xbb\xbf" + text.encode(),
    lambda text: b"$comment caf\xe9 $end\n" + text.encode(),
    lambda text: text.replace("$timescale", "$attrbegin misc 02 x 1 $end $timescale", 1),
], ids=range(15))
def test_files_that_other_tools_have_written_anew_are_read(change, tmp_path):
    """As IEEE 1364 allows: white space anywhere, comments, ranges behind names; and compressed."""
    path, other = tmp_path / "w.vcd", tmp_path / "other.vcd"
    text = vcd(*FIGURE_4)
    changed = change(text)
    path.write_text(text)
    other.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    assert changed != text
    assert vars(read_waveform(other)) | {"topology": 0} == vars(read_waveform(path)) | {"topology": 0}


@pytest.mark.parametrize("name", ["two  blanks", " before", "after ", "   ", "a   b    c"])
def test_a_network_s_own_name_comes_out_as_it_went_in(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("net.toml").write_text(f'name = "{name}"\nswitches = ["cpu-0", "io.1"]\nnodes = [0, 1]\nlinks = [[0, 1]]\n')
    network = topology("net.toml")
    result = run(network, SCHEMES["individual"], [Message(0, 0, (1,), 4)], Configuration(), vcd=Path("w.vcd"))
    history = read_waveform(Path("w.vcd"))
    assert (result.outcome, history.topology.name) == ("delivered", name)


def test_a_header_on_one_line_takes_no_longer(tmp_path):
    """As a tool writes it that ends lines in another way; with a copy of the rest for each name it takes minutes."""
    path = tmp_path / "w.vcd"
    path.write_text(" ".join(f"$var wire 1 {number} name_{number} $end" for number in range(20_000)))
    began = time.process_time()
    with pytest.raises(WormcastError, match="within the declarations of its signals"):
        read_waveform(path)
    assert time.process_time() - began < 5


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(WormcastError, match=r"^waveform: .*none\.vcd cannot be read: No such file$"):
        read_waveform(tmp_path / "none.vcd")


def test_a_comment_of_another_form_is_refused(tmp_path):
    path = tmp_path / "w.vcd"
    said, holds, _ = FIGURE_4
    path.write_text(vcd(said, holds).replace(json.dumps(said["links"]), '[{"name": "link:0>1"}]'))
    with pytest.raises(WormcastError, match="its comment gives kind of link 0 as None"):
        read_waveform(path)


def test_a_damaged_line_has_its_number(tmp_path):
    path = tmp_path / "w.vcd"
    path.write_text("$var wire 1 ! a $end\n$enddefinitions $end\n#0\n1!\n\n#1\n[\n0!\n")
    with path.open("rb") as file:
        number = file.read().split(b"\n").index(b"[") + 1
    wave = Wave(path)
    with pytest.raises(WormcastError, match=rf"damaged .line {number}, '\[', is neither"):
        list(wave.changes([]))


def test_a_compressed_waveform_that_is_cut_off_is_refused_in_plain_words(tmp_path):
    path = tmp_path / "w.vcd"
    path.write_bytes(gzip.compress(vcd(*FIGURE_4).encode("latin1"))[:-20])
    with pytest.raises(WormcastError, match=r"w\.vcd is cut off or damaged\. Needed: a whole gzip file\.$"):
        read_waveform(path)
