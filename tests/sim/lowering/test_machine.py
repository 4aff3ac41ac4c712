"""Kernels in a process that uses much memory."""

import subprocess
import sys

import pytest

# room for the code above 4 GiB, and for its constants only below
FAR_APART = """
import mmap
import llvmlite.binding as llvm
from wormcast.sim.lowering import machine

NORESERVE, WORDS = 0x4000, 1 << 16
hole = mmap.mmap(-1, 1 << 16)
between = mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE)
hole.close()
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
module = llvm.parse_assembly(f'''
@table = private constant [{WORDS} x i64] [{",".join(f"i64 {word}" for word in range(WORDS))}]
define i64 @word(i64 %place) {{
  %at = getelementptr [{WORDS} x i64], [{WORDS} x i64]* @table, i64 0, i64 %place
  %word = load i64, i64* %at
  ret i64 %word
}}''')
target = llvm.Target.from_default_triple().create_target_machine(reloc="pic", codemodel="default")
print(machine.address(target.emit_object(module), "word") > 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="where memory is mapped is known of Linux")
def test_code_is_loaded_where_it_reaches_its_constants():
    done = subprocess.run([sys.executable, "-c", FAR_APART], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
