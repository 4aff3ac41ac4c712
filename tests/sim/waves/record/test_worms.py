"""Worms in waveforms, against flits that are followed by hand in the signals of the hardware beside them."""

import functools
import json
import re
from itertools import pairwise

import pytest
import waves
from cases import some
from vcdvcd import VCDVCD

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.sim import Configuration, Message, run
from wormcast.sim.waves.record import beside, whole_waveform

NETWORK, WORMS, ROUTERS = "bench.top.network.", "bench.top.worms.", "bench.top.routers."

#: Networks that are recorded, with messages that contend.
CASES = {
    "one channel": ("mesh:1x4", "dual-path", {"vcs": 1, "consumption": 2}),
    "shallow": ("mesh:1x4", "dual-path", {"vcs": 1, "buffer": 1, "consumption": 2, "flit_width": 8}),
    "fast": ("mesh:2x3", "dual-path", {"vcs": 2, "buffer": 2, "delays": "fast"}),
    "independent": ("mesh:2x3", "multipath", {"vcs": 2, "buffer": 3, "readers": "independent", "ports": "all",
                                              "consumption_links": "separate"}),
    "packets": ("mesh:1x4", "dual-path", {"vcs": 2, "packet": 2, "flit_width": 20, "t_nr": 1}),
    "wide": ("mesh:1x4", "individual", {"vcs": 3, "flit_width": 130}),
}
# the most there is: readers, ports and links of all kinds
CHOSEN = some(CASES, "independent")


def messages(nodes, length=6):
    """Multicasts from every node to the more distant half of the others, at about the same time."""
    return [Message(source % 3, source, tuple(sorted(range(nodes), key=lambda node: -abs(node - source))[:nodes // 2]),
                    length + source) for source in range(nodes)]


def send(case, path, **options):
    mesh, scheme, hardware = CASES[case]
    network = topology(mesh)
    done = run(network, SCHEMES[scheme], messages(network.nodes), Configuration(**hardware), vcd=path, **options)
    assert done.outcome == "delivered"
    return done


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """Runs a case once for all tests that read its waveform: the run, the waves and the heading."""
    @functools.cache
    def follow(case):
        path = tmp_path_factory.mktemp("worms") / "w.vcd"
        done = send(case, path)
        return done, waves.read(path), heading(path)

    return follow


def heading(path):
    lines = path.read_text().split("$comment", 1)[1].split("$end", 1)[0].split()
    assert lines[0] == "wormcast"
    return json.loads(" ".join(lines[1:]))


def numbers(wave, cycle):
    """Return a number that a signal shows, None for unknown."""
    value = wave.at(cycle * waves.PERIOD)
    return None if value == "x" else int(value, 2)


def words(wave, cycle):
    return wave.at(cycle * waves.PERIOD).removeprefix("s")


class Flits:
    """The flits on a link, cycle by cycle, as the signals of the component that drives it show them."""

    def __init__(self, found, link, network, cycles):
        row = network.node_name(link["from"]).replace(".", "_")
        if link["kind"] == "injection":
            inside = f"{NETWORK}interface_{row}."
            ports = [f"network_out_{link['name'].split(':')[2]}"]
        elif link["kind"] == "consumption":
            inside = f"{NETWORK}router_{row}."
            number = re.split("[:#]", link["name"])[2]
            ports = [f"local{number}_out", f"local_{number}_out", "local_out"]
        else:
            inside = f"{NETWORK}router_{row}."
            near, far = (map(int, network.node_name(link[end]).split(".")) for end in ("from", "to"))
            step = tuple(end - start for start, end in zip(near, far, strict=True))
            ports = [{(0, 1): "east_out", (0, -1): "west_out", (1, 0): "south_out", (-1, 0): "north_out"}[step]]
        port = next(port for port in ports if f"{inside}{port}__valid" in found)
        valid, vc = found[f"{inside}{port}__valid"], found.get(f"{inside}{port}__vc")  # of one channel: no bits
        head, tail, data = (found[f"{inside}\\{port}__flit.{name}"] for name in ("head", "tail", "data"))
        #: (cycle, virtual channel, head, tail, data)
        self.seen = [(cycle, numbers(vc, cycle) if vc else 0, numbers(head, cycle), numbers(tail, cycle),
                      numbers(data, cycle)) for cycle in range(cycles) if numbers(valid, cycle)]


def stays(flits, vc, tags, stop):
    """Follow the flits of a virtual channel: (worm, first cycle, tail's cycle) of each worm that has passed.

    At a stop, a header may have been used up before.
    """
    found, first, worm = [], None, None
    for cycle, _, head, tail, data in (flit for flit in flits if flit[1] == vc):
        if first is None:
            assert head or stop, "a worm begins with a header flit"
            first = cycle
        if not head:
            assert worm in (None, tags[data & len(tags) - 1]), "worms are interleaved"
            worm = tags[data & len(tags) - 1]
        if tail:
            found.append((worm, first, cycle))
            first = worm = None
    assert first is None, "a worm has not ended"
    return found


@pytest.mark.parametrize("case", CHOSEN)
def test_worms_have_what_their_flits_go_over(case, followed):
    """From the first flit to the tail on every link; a consumption channel from when it is reserved."""
    done, found, told = followed(case)
    cycles = done.cycles
    tags = [None] * (1 << min(16, CASES[case][2].get("flit_width", 32)))
    for worm, row in enumerate(done.host.worms):
        tags[row["tag"]] = worm
    passed = 0
    for link in told["links"]:
        flits = Flits(found, link, done.network.topology, cycles).seen
        shown = {name: found[f"{link['scope']}.{name}"] for name in ("flit", "vc", "head", "tail")}
        assert [cycle for cycle in range(cycles) if numbers(shown["flit"], cycle)] == [flit[0] for flit in flits]
        for cycle, *marks in flits:
            assert [numbers(shown[name], cycle) for name in ("vc", "head", "tail")] == marks[:3]
        for vc in range(link["vcs"]):
            worm = found[f"{link['scope']}.vc_{vc}.worm"]
            expected = dict.fromkeys(range(cycles))
            for number, first, last in stays(flits, vc, tags, link["kind"] == "consumption"):
                begin = first
                if link["kind"] == "consumption":
                    while numbers(worm, begin - 1) == number:
                        begin -= 1
                    assert begin < first
                expected |= dict.fromkeys(range(begin, last + 1), number)
                passed += 1
            assert [numbers(worm, cycle) for cycle in range(cycles)] == list(expected.values()), (link["name"], vc)
    assert passed > 20


@pytest.mark.parametrize("case", CHOSEN)
def test_deliveries_are_the_worms_on_consumption_links(case, followed):
    done, found, told = followed(case)
    ends = {}
    for link in told["links"]:
        if link["kind"] == "consumption":
            for vc in range(link["vcs"]):
                worm = found[f"{link['scope']}.vc_{vc}.worm"]
                for (_, before), (time, after) in pairwise(zip(worm.times, worm.values, strict=True)):
                    if before != "x" and after != before:
                        last = time // waves.PERIOD
                        key = int(before, 2), link["to"]
                        ends[key] = max(ends.get(key, 0), last)
    due = {(int(row["worm"]), int(row["node"])): int(row["tail"]) for row in done.host.deliveries}
    assert ends.keys() == due.keys()
    late = [tail - ends[key] for key, tail in due.items()]
    assert min(late) == 2, "the interface takes two cycles"
    assert max(late) < 20
    worms = {worm["worm"]: worm for worm in told["worms"]}
    assert {(number, node) for number, worm in worms.items() for node in worm["destinations"]} == due.keys()


@pytest.mark.parametrize("case", CHOSEN)
def test_windows_show_what_the_whole_waveform_shows(case, followed, tmp_path):
    """Wherever they begin and end: with worms that came before, and such as have shown no payload by the end."""
    compare_windows(followed, case, tmp_path, 9)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_all_windows_show_what_the_whole_waveform_shows(case, followed, tmp_path):
    compare_windows(followed, case, tmp_path, 1)


def compare_windows(followed, case, tmp_path, step):
    """Compare windows at a router that begin every so many cycles with the whole."""
    done, whole, _ = followed(case)
    for first in range(1, done.cycles - 4, step):
        end = first + 1 + first % 4
        done.record(tmp_path / "w.vcd", first, end, [("router", 1)])
        window = waves.read(tmp_path / "w.vcd")
        # numbers of requests are those of a file
        names = {name for name in window if name.startswith((WORMS, ROUTERS)) and not name.endswith(".waits_id")}
        assert len(names) > 40
        assert waves.differences(window, whole, range(first, end), names) == []


@pytest.mark.parametrize("case", CHOSEN)
def test_what_is_waited_for_is_what_the_states_say(case, followed):
    """In each cycle in which a worm wants something that it still wants in the next."""
    done, found, _ = followed(case)
    waited = 0
    for name in (name for name in found if name.startswith(ROUTERS) and name.endswith(".state")):
        state, waits = found[name], found[name.removesuffix("state") + "waits"]
        for cycle in range(done.cycles - 1):
            now, then = words(state, cycle), words(state, cycle + 1)
            kind = {"WANTS_LINK": "link:", "WANTS_CONSUMPTION": "cons:"}.get(now, "") if now == then else ""
            assert {one[:5] for one in words(waits, cycle).split("|")} == {kind}
            waited += bool(kind)
    assert waited > 5


@pytest.mark.parametrize("case", some([case for case in CASES if case not in ("fast", "independent")],
                                      "shallow"))
def test_owners_and_targets_are_those_of_the_flits_that_leave(case, tmp_path):
    """Whatever lies on a link out of a router came from the input that owns it, and that input says it goes there."""
    done = send(case, tmp_path / "w.vcd")
    found, checked = waves.read(tmp_path / "w.vcd"), 0
    for name in (name for name in found if name.startswith(ROUTERS) and name.endswith(".owner")):
        router, port, vc, _ = name.removeprefix(ROUTERS).split(".")
        kind = found[f"{ROUTERS}{router}.{port}.{vc}.kind"]
        for cycle in range(done.cycles):
            if words(kind, cycle) in ("HEAD", "DATA"):
                owner = words(found[name], cycle)
                targets = words(found[f"{ROUTERS}{router}.{owner}.goes_to"], cycle).split("+")
                holder = words(found[name.removesuffix("owner") + "holder"], cycle)
                assert words(found[f"{ROUTERS}{router}.{owner}.front"], cycle) == holder != ""
                assert ("here" if port == "local_out" else port.removesuffix("_out")) in targets
                checked += 1
            if words(kind, cycle) == "TAIL":
                assert words(found[name], cycle) == ""
    assert checked > 50


def test_stored_flits_come_and_go_by_the_links(tmp_path):
    """A flit is in the buffer the cycle after it came, and leaves it the cycle before it is on the next link.

    The sender has its credit back a cycle after it has left.
    """
    network = topology("mesh:1x3")
    run(network, SCHEMES["individual"], [Message(0, 0, (2,), 9)], Configuration(vcs=1), vcd=tmp_path / "w.vcd")
    found = waves.read(tmp_path / "w.vcd")
    inside = f"{ROUTERS}router_0_1."
    [channel] = [f"{link['scope']}.vc_0" for link in heading(tmp_path / "w.vcd")["links"] if link["name"] == "link:0>1"]
    stored = in_it = left = 0
    for cycle in range(40):
        assert numbers(found[f"{inside}west_in.vc_0.stored"], cycle) == in_it
        assert numbers(found[f"{channel}.stored"], cycle) == in_it
        assert numbers(found[f"{channel}.spent"], cycle) == in_it + left
        left = words(found[f"{inside}east_out.vc_0.kind"], cycle + 1) != ""
        in_it += words(found[f"{inside}west_in.vc_0.kind"], cycle) != ""
        in_it -= words(found[f"{inside}east_out.vc_0.kind"], cycle + 1) != ""
        stored += in_it
    assert stored > 0


FIGURE_4 = [Message(0, 0, (1, 2), 64), Message(0, 3, (2, 1), 64)]


def figure_4(path, buffer=4, window=None, **options):
    return run(topology("mesh:1x4"), SCHEMES["dual-path"], FIGURE_4,
               Configuration(vcs=1, consumption=1, buffer=buffer, **options), vcd=path, window=window)


@pytest.mark.parametrize("buffer", [1, 4])
def test_a_deadlocks_resources_are_had_by_its_worms_at_the_end(buffer, tmp_path):
    done = figure_4(tmp_path / "w.vcd", buffer)
    found, told = waves.read(tmp_path / "w.vcd"), heading(tmp_path / "w.vcd")
    assert told["deadlock"] == done.deadlock.to_dict()
    scope = {link["name"]: link["scope"] for link in told["links"]}
    for hold in told["deadlock"]["cycle"]:
        for resource in hold["holds"]:
            kind, where, vc = resource.split(":")
            link = f"cons:{where}#0" if kind == "cons" else f"link:{where}"
            assert numbers(found[f"{scope[link]}.vc_{vc}.worm"], told["end"] - 1) == hold["worm"]
            assert words(found[f"{scope[link]}.vc_{vc}.holder"], told["end"] - 1) == f"worm_{hold['worm']}"
        waits = {words(found[name], told["end"] - 1) for name in found if name.endswith(".waits")}
        assert "|".join(hold["waits"]) in waits


def test_the_heading_tells_what_was_run(tmp_path):
    mesh, scheme, hardware = CASES["packets"]
    done = send("packets", tmp_path / "w.vcd", window=(4, 30), instances="0.1")
    told = heading(tmp_path / "w.vcd")
    assert (told["topology"], told["scheme"], told["relation"]) == (mesh, scheme, "hamiltonian")
    assert told["configuration"] == {**done.network.configuration.to_dict(), "classes": "up/down:next"}
    assert told["configuration"]["packet"] == hardware["packet"]
    assert (told["lane"], told["first"], told["end"], told["period_fs"]) == (0, 4, 30, 1_000_000)
    assert told["deadlock"] is None
    assert [link["name"] for link in told["links"]] == [
        "link:0>1", "inj:1:0", "link:1>2", "link:1>0", "cons:1#0", "link:2>1"]
    assert told["links"][1] == {"name": "inj:1:0", "kind": "injection", "from": 1, "to": 1, "vcs": 2,
                                "scope": "bench.top.worms.injection_0_1"}
    for worm in told["worms"]:
        number = worm["worm"]
        assert done.worms.message_offsets[worm["message"]] <= number < done.worms.message_offsets[worm["message"] + 1]
        assert (worm["source"], worm["destinations"]) == (done.worms.source[number], done.worms.visits(number).tolist())
        assert worm["length"] == done.messages[worm["message"]].length
    found = waves.read(tmp_path / "w.vcd")
    shown = {int(value, 2) for name, wave in found.items() if name.endswith(".worm") for value in wave.values
             if value != "x"}
    assert [worm["worm"] for worm in told["worms"]] == sorted(shown)


@pytest.mark.slow  # those of trees do: test_trees
def test_layouts_name_signals_that_are_there_along_each_path(tmp_path):
    done = send("independent", tmp_path / "w.vcd")
    found = waves.read(tmp_path / "w.vcd")
    gtkwave, surfer = (file.read_text() for file in beside(tmp_path / "w.vcd")[:2])
    commands = [line.split() for line in surfer.splitlines()]
    assert commands[-1] == ["zoom_fit"]
    added = [words[1] for words in commands if words[0] == "variable_add"]
    assert set(added) <= found.keys()
    assert [line.split("} ")[1] for line in gtkwave.splitlines() if line.startswith("+{")] == added
    colours = [re.findall(r"\n\[color\] (\d)", group) for group in gtkwave.split("\n-worm ")[1::2]]
    assert [len(set(group)) for group in colours] == [1] * len(done.worms)
    assert len({group[0] for group in colours}) == min(6, len(done.worms))
    dividers = [words for words in commands if words[0] == "divider_add"]
    assert len(dividers) == len(done.worms)
    assert all(len(words) == 2 and re.fullmatch(r"\w+", words[1]) for words in dividers)
    for group in surfer.split("divider_add ")[1:]:
        worm, source, *visits = map(int, re.findall(r"\d+", group.split("\n")[0]))
        path = [tuple(map(int, line.split("link_")[1].split(".")[0].replace("_to", "").split("_")))
                for line in group.splitlines() if "link_" in line and line.endswith(".holder")]
        nodes = [source, *(3 * end[2] + end[3] for end in path)]
        assert [3 * start[0] + start[1] for start in path] == nodes[:-1]
        assert [node for node in nodes[1:] if node in visits] == visits == done.worms.visits(worm).tolist()


def test_layouts_of_a_deadlock_begin_with_it(tmp_path):
    figure_4(tmp_path / "w.vcd")
    gtkwave = beside(tmp_path / "w.vcd")[0].read_text()
    assert "-deadlock: each waits for the next" in gtkwave
    assert gtkwave.index("-worm 0 waits for cons:2:0") < gtkwave.index("-worm 0: 0 to 1 2")
    figure_4(tmp_path / "w.vcd", window=(0, 7))
    assert "deadlock" not in beside(tmp_path / "w.vcd")[0].read_text()


def test_numbers_of_requests_mean_what_their_strings_say(tmp_path):
    """Read by another library, which reads no strings."""
    figure_4(tmp_path / "w.vcd")
    lines = (tmp_path / "w.vcd.waits.txt").read_text().splitlines()
    texts = {int(number): text.removeprefix("-") for number, text in map(str.split, lines)}
    assert set(texts.values()) == {"", "cons:1:0", "cons:2:0"}
    found, numbers = waves.read(tmp_path / "w.vcd"), VCDVCD(str(tmp_path / "w.vcd"))
    names = [name for name in found if name.startswith((WORMS, ROUTERS)) and name.endswith(".waits")]
    assert len(names) > 10
    for name in names:
        for cycle in range(1, 20):
            assert texts[int(numbers[f"{name}_id"][cycle * waves.PERIOD], 2)] == words(found[name], cycle), name


def interrupted(path):
    """Write a waveform, and lose it at the last moment."""
    with whole_waveform(path) as unfinished:
        figure_4(unfinished)
        raise OSError(5, "broken")


def test_a_waveform_comes_whole_or_not_at_all(tmp_path):
    path = tmp_path / "w.vcd"
    with pytest.raises(WormcastError, match="cannot be written: broken"):
        interrupted(path)
    assert list(tmp_path.iterdir()) == []
    with whole_waveform(path) as unfinished:
        figure_4(unfinished)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["w.vcd", "w.vcd.gtkw", "w.vcd.sucl",
                                                                   "w.vcd.waits.txt"]
    beside(path)[1].unlink()
    beside(path)[1].mkdir()
    with pytest.raises(WormcastError, match=r"w.vcd.sucl is not valid: it is a folder"), whole_waveform(path):
        pass
