"""Object code of a Python function: Numba's front end, then LLVM once for the whole function.

Numba by itself optimises each called function, generates its machine code, and loads it. Machine code of its own is not
needed for a called function that becomes a part of its caller. This module therefore adds a Numba target that makes
only LLVM IR (``numba.core.target_extension``).
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar

import llvmlite.binding as llvm
import numba
from numba.core import cpu, externals, types
from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen
from numba.core.compiler import Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, CPUTarget
from numba.core.target_extension import CPU, dispatcher_registry, jit_registry, target_registry

from wormcast.algorithms.announcements import announce
from wormcast.algorithms.compiled import CompiledFunction, with_globals
from wormcast.algorithms.jit import called_by

from ..common.processor import host
from .store import collector_paused

__all__ = ["object_code"]

NAME = "wormcast"
OPTIONS = {"nopython": True, "nogil": True, "_nrt": False, "forceinline": True, "no_cpython_wrapper": True,
           "no_cfunc_wrapper": True}


class _Library(CPUCodeLibrary):
    """LLVM IR of one function, as Numba's front end makes it."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._finalized = True

    def linked(self) -> llvm.ModuleRef:
        """Link the function with every function that it calls, each once."""
        found: dict[_Library, None] = {}
        ahead = [self]
        while ahead:
            library = ahead.pop()
            if library not in found:
                found[library] = None
                ahead += library._linking_libraries
        for library in found:
            if library is not self:
                self._final_module.link_in(library._final_module, preserve=True)
        return self._final_module


class _Codegen(JITCPUCodegen):
    _library_class = _Library  # type: ignore[assignment]


class _Context(cpu.CPUContext):
    def init(self) -> None:
        self.is32bit = False
        self._internal_codegen = _Codegen(NAME)
        externals.c_math_functions.install(self)

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        """Complete a library. The returned value represents the function in Numba's tables, and is never called."""
        library._ensure_finalized()
        return [].append


class _Name(CPU):
    """Key of the target in Numba's registries."""


target_registry[NAME] = _Name


class _Target(CPUTarget):
    def __init__(self) -> None:
        super().__init__(NAME)
        self.context = _Context(self.typing_context, NAME)

    @property
    def target_context(self) -> Any:
        return self.context


class _Flags(Flags):
    """Numba's options. Numba compares the values of all options at each call of a typed function."""

    _defaults: ClassVar = {name: option.default for name, option in Flags.options.items()}

    def values(self) -> dict[str, Any]:
        return self._defaults | self._values


class _Dispatcher(CPUDispatcher):
    targetdescr = _Target()

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._compiler: Any
        self._compiler._customize_flags = _Flags

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile a called function once for all signed integers, constants included."""
        return super().get_call_template(tuple(map(_widened, args)), kws)


def _widened(kind: types.Type) -> types.Type:
    """Return the type of a function's parameter for an argument."""
    kind = types.unliteral(kind)
    return types.int64 if kind in types.signed_domain else kind


def _jit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile Numba's own functions, such as `min`, for this module's target."""
    return lambda function: _Dispatcher(function, {}, {**options, **OPTIONS})


dispatcher_registry[_Name] = _Dispatcher
jit_registry[_Name] = _jit


def object_code(function: Callable[..., None], arguments: tuple[Any, ...], switches: Mapping[str, bool]) -> bytes:
    """Compile a function to object code, whose ``entry`` takes the address of the flattened arguments.

    Parameters
    ----------
    function : function
        A function that returns nothing and makes no arrays.
    arguments : tuple
        Arguments for which the function is compiled; only their types matter.
    switches : mapping of str to bool
        Values of global variables in the function and in all functions that it calls.
    """
    with announce("compiling the hosts' program", 8, once=True), global_compiler_lock, collector_paused():
        kernel = _dispatcher(function, switches)
        signature = tuple(map(numba.typeof, arguments))
        kernel.compile(signature)
        result = kernel.overloads[signature]
        module = result.library.linked()
        types = _Dispatcher.targetdescr.target_context.call_conv._get_arg_packer(signature).argument_types
        module.link_in(llvm.parse_assembly(_entry(result.fndesc.llvm_func_name, list(map(str, types)))))
        return _machine_code(module)


def _dispatcher(function: Callable[..., None], switches: Mapping[str, bool]) -> Any:
    """Make Numba's dispatchers of a function and of all functions that it calls, for the given switches."""

    @cache
    def made(called: CompiledFunction[..., Any]) -> Any:
        return dispatcher(called.py_func)

    def dispatcher(one: Callable[..., Any]) -> Any:
        switched = with_globals(one, lambda name, value: switches.get(name, value))
        return _Dispatcher(called_by(switched, made), {}, OPTIONS)

    return dispatcher(function)


def _entry(name: str, types: list[str]) -> str:
    """Return LLVM IR of a function that loads all arguments from a table of 64-bit numbers and calls ``name``."""
    lines, passed = [], []
    for place, kind in enumerate(types):
        lines += [f"  %p{place} = getelementptr i64, ptr %table, i64 {place}",
                  f"  %a{place} = load {'i8' if kind == 'i1' else kind}, ptr %p{place}"]
        if kind == "i1":
            lines.append(f"  %b{place} = trunc i8 %a{place} to i1")
        passed.append(f"{kind} %{'b' if kind == 'i1' else 'a'}{place}")
    return f"""
declare i32 @"{name}"(ptr, ptr, {", ".join(types)})
define i32 @entry(ptr %table) {{
  %result = alloca i64
  %error = alloca ptr
{chr(10).join(lines)}
  %status = call i32 @"{name}"(ptr %result, ptr %error, {", ".join(passed)})
  ret i32 %status
}}
"""


def _machine_code(module: llvm.ModuleRef) -> bytes:
    for function in module.functions:
        if not function.is_declaration and function.name != "entry":
            function.linkage = llvm.Linkage.internal
    name, features = host()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=3, reloc="pic", codemodel="default")
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = True
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)
