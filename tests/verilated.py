"""Programs of models that run for a moment: building them is what costs, and of that Verilator's headers."""

from tools.bench.verilator import run
from wormcast.sim.common.verilator import DEFINES, verilator_root

__all__ = ["compile_at_once"]


def compile_at_once(at, program, model):
    """Compile a C++ program and the model that `translate` has left in a folder to ``bench``, all as one file."""
    (at / "main.cpp").write_text(program)
    include = verilator_root() / "include"
    parts = [include / "verilated.cpp", include / "verilated_threads.cpp", *sorted(model.glob("*.cpp")), "main.cpp"]
    (at / "all.cpp").write_text("".join(f'#include "{part}"\n' for part in parts))
    folders = [f"-I{folder}" for folder in (model, include, include / "vltstd")]
    run(at, "g++", "-O0", *DEFINES, *folders, "all.cpp", "-o", "bench", "-lpthread")
