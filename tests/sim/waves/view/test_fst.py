"""FST waveforms: ``figure4.fst`` is `FIGURE_4` of written_waves, converted by vcd2fst of GTKWave 3.3.118."""

import subprocess
import sys
from pathlib import Path

import pytest
from written_waves import FIGURE_4, vcd

from wormcast.algorithms import WormcastError
from wormcast.sim.waves.view import read_waveform

FILE = Path(__file__).parent / "figure4.fst"


def test_it_is_read_as_the_vcd_that_it_was_made_of(tmp_path):
    (tmp_path / "w.vcd").write_text(vcd(*FIGURE_4))
    expected, found = read_waveform(tmp_path / "w.vcd"), read_waveform(FILE)
    for name in ("scheme", "first", "end", "links", "worms", "holds", "waits", "deadlock", "configuration"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.topology.name == expected.topology.name


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_a_file_that_ends_early_is_damaged(tmp_path, share):
    """And nothing is left beside it."""
    whole = FILE.read_bytes()
    short = tmp_path / "short.fst"
    short.write_bytes(whole[:int(len(whole) * share)])
    with pytest.raises(WormcastError, match=r"short\.fst is damaged .it cannot be read as an FST waveform"):
        read_waveform(short)
    assert list(tmp_path.iterdir()) == [short]


def test_a_file_without_a_word_of_worms_is_refused(tmp_path):
    (tmp_path / "w.fst").write_bytes(FILE.read_bytes()[:330])
    with pytest.raises(WormcastError, match=r"w\.fst is damaged"):
        read_waveform(tmp_path / "w.fst")


def test_it_needs_its_package():
    code = "import sys; sys.modules['pylibfst'] = None; from wormcast.sim.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "wave", FILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == 'wormcast: pylibfst is not installed: pip install "wormcast[fst]"\n'
