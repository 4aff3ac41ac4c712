"""Machine code: LLVM IR to object code, and object code to addresses in this process."""

import threading
from collections.abc import Mapping
from functools import cache

import llvmlite.binding as llvm

from ..common.processor import host

__all__ = ["address", "affine", "assemble", "compile_ir", "vector_bytes"]

TUNING = "-prefer-256-bit"
"""Setting that prevents LLVM from splitting the vectors of kernels into halves."""

SCHEDULER = {"enable-misched": False}
"""LLVM's scheduler takes a tenth of the compile time, and kernels run no faster with it: the order of phases keeps few
values live."""

SELECTION = {"fast-isel": True, "disable-cgp": True}
"""Fast instruction selection is for blocks of flags, which it selects in full; other blocks have vector instructions
that it leaves to the usual selection. The preparation of code generation (``cgp``) would join the two kinds of blocks.
"""


def vector_bytes() -> int:
    """Return the number of bytes of the vector registers that kernels use on this processor: 16, 32 or 64."""
    features = set(host()[1].split(","))
    if {"+avx512bw", "+avx512vl", "+avx512dq"} <= features:
        return 64
    return 32 if "+avx2" in features else 16


def affine() -> bool:
    """Return whether this processor transposes squares of bits in one instruction, in 64 bytes at once."""
    return {"+gfni", "+avx512bw"} <= set(host()[1].split(","))


@cache
def _machine() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = host()
    target = llvm.Target.from_default_triple()
    if target.triple.startswith("x86_64"):
        features = f"{features},{TUNING}"
    return target.create_target_machine(cpu=name, features=features, opt=1, reloc="pic", codemodel="default")


def compile_ir(text: str) -> llvm.ModuleRef:
    """Parse, check and simplify LLVM IR for this processor.

    `compile_ir` removes unused instructions; `assemble` removes equal ones. All other passes of -O3 are left out: they
    take seconds, find nothing in expressions that are folded already, and turn tests of narrow flags into tests of wide
    words. Machine code is made as by -O1, which takes half the time of -O3, and the code runs as fast.
    """
    machine = _machine()
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    passes = llvm.create_new_function_pass_manager()
    passes.add_aggressive_dce_pass()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    return module


def assemble(module: llvm.ModuleRef, *, flag_blocks: bool) -> bytes:
    """Return the object code of a module. ``flag_blocks``: some basic blocks have only instructions on flags."""
    options = {**SCHEDULER, **(SELECTION if flag_blocks else {})}
    _set_options(options)
    try:
        return _machine().emit_object(module)
    finally:
        _set_options({name: not value for name, value in options.items()})  # options are global, for Numba too


def _set_options(options: Mapping[str, bool]) -> None:
    for name, value in options.items():
        llvm.set_option("", f"-{name}={str(value).lower()}")


_engines: dict[bytes, llvm.ExecutionEngine] = {}
_lock = threading.Lock()


def address(code: bytes, function: str) -> int:
    """Return the address of a function in ``code``, object code that is loaded into this process only once."""
    with _lock:
        engine = _engines.get(code)
        if engine is None:
            llvm.initialize_native_target()
            llvm.initialize_native_asmprinter()
            machine = llvm.Target.from_default_triple().create_target_machine(reloc="pic", codemodel="default")
            # llvmlite's memory manager keeps code and its constants together.
            # LLVM's own manager ends the process if code and constants are over 2 GiB apart, as in large processes.
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=True)
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
            _engines[code] = engine
    return engine.get_function_address(function)
