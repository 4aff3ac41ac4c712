"""The exported Verilog answers every cycle as Amaranth's simulator does, whatever comes in."""

import pytest

from wormcast.sim.build.components import COMPONENTS, build_component
from wormcast.sim.export.verilog import component_verilog

from .cases import WIDE, having, names_in
from .replay import Stimulus, record, replay

# the benches of tb/ run the same Verilog with every test
pytestmark = pytest.mark.slow

#: Cycles of those whose states take longest to come about; credits are held at a full buffer seldom enough.
LONGER = {"input-vc": 2000, "output-unit": 2000, "deep-input": 1500, "chunk-store": 1500, "child-table": 1000,
          "forwarding": 1000}

#: Outputs that count for longer than a replay.
COUNTERS = ("forwarded", "resident", "copied")


def straps(built):
    """Values of the straps of a router in the middle, of the first kind, by port."""
    values = built.router().decoder.strap_values(built.routes, built.kinds[0])
    return {f"strap_{name}": column[len(column) // 2] for name, column in values.items()}


def recorded(built, cycles, seed, names=()):
    """Components by module, by default all that there are, each with a stimulus of its own."""
    found = {}
    for name in names or names_in(built):
        component = build_component(built, name)
        stimulus = Stimulus(component, built, f"{seed} {name}", fixed=straps(built))
        found[f"c_{name.replace('-', '_')}"] = record(component, cycles, stimulus)
    return found


def mutants_of(recording, name):
    """Return the mutants of a component's Verilog, by module: in each, one OR is an AND."""
    text = component_verilog(recording.component, name)[0]
    places = [at for at, sign in enumerate(text) if text[at - 1:at + 2] == f" {sign} " and sign == "|"]
    changed = {f"{name}_{k}": f"{text[:at]}&{text[at + 1:]}" for k, at in enumerate(places)}
    return {mutant: changed[mutant].replace(f"module {name}(", f"module {mutant}(") for mutant in changed}


@pytest.fixture(scope="module")
def replayed(tmp_path_factory):
    """Recordings and answers of all components, and of one's mutants, in one program: most of the time compiles it."""
    recordings = {}
    for name in COMPONENTS:
        recordings |= recorded(having(name), LONGER.get(name, 300), seed=1, names=[name])
    mutants = mutants_of(recordings["c_output_unit"], "c_output_unit")
    recordings |= dict.fromkeys(mutants, recordings["c_output_unit"])
    return recordings, replay(recordings, tmp_path_factory.mktemp("replay"), verilog=mutants), mutants


@pytest.mark.parametrize("what", COMPONENTS)
def test_component_answers_as_in_amaranths_simulator(replayed, what):
    recordings, answers, _ = replayed
    name = f"c_{what.replace('-', '_')}"
    assert recordings[name].toggled(COUNTERS) > 0.75
    assert recordings[name].agrees(answers[name])


def test_a_gate_that_is_another_one_is_seen(replayed):
    """The stimulus reaches enough logic to detect each mutant."""
    recordings, answers, mutants = replayed
    assert mutants
    assert [name for name in mutants if recordings[name].agrees(answers[name])] == []


@pytest.mark.parametrize("case", WIDE)
def test_every_component_of_other_hardware(case, tmp_path):
    recordings = recorded(case(), 2000, seed=3)
    answers = replay(recordings, tmp_path)
    assert [name for name in recordings if not recordings[name].agrees(answers[name])] == []
