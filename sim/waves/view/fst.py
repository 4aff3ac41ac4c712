"""Conversion of FST waveforms to VCD: ``python -m wormcast.sim.waves.view.fst FST VCD``.

The FST library terminates the process on a damaged file. The conversion therefore runs in a process of its own.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from ...common.requirements import require
from .damage import damaged

__all__ = ["is_fst", "write_vcd"]

#: First bytes of an FST file: a header block (type 0, 329 bytes), or a compressed block (type 254) around all blocks.
HEADER, COMPRESSED = b"\x00" + (329).to_bytes(8, "big"), b"\xfe"


def is_fst(begin: bytes) -> bool:
    """Return whether a file with the first bytes ``begin`` is an FST waveform."""
    return begin.startswith((HEADER, COMPRESSED))


def write_vcd(path: Path, vcd: Path) -> None:
    """Convert an FST waveform to VCD.

    Raises
    ------
    ToolMissing
        The FST library is not installed.
    WormcastError
        The file is damaged.
    """
    require("pylibfst", "fst")
    with tempfile.TemporaryDirectory() as folder:
        # the library writes temporary files beside its input, so the input is a link in a temporary folder
        link = Path(folder, "wave.fst")
        link.symlink_to(path.resolve())
        done = subprocess.run([sys.executable, "-P", "-m", __name__, link, vcd], capture_output=True)
    if done.returncode != 0:
        raise damaged(path, "it cannot be read as an FST waveform")


def _convert(path: str, vcd: str) -> int:
    """Write to a VCD file the comments, which the library omits, then the library's VCD; return the exit code."""
    fst = require("pylibfst", "fst")
    library, null = fst.lib, fst.ffi.NULL
    # an FST reader reads names and comments only once: one reader for the comments, another one for the VCD
    comments, reader = (library.fstReaderOpen(path.encode()) for _ in range(2))
    if null in (comments, reader):
        return 1
    with open(vcd, "wb", buffering=0) as file:
        while (entry := library.fstReaderIterateHier(comments)) != null:
            if entry.htyp == library.FST_HT_ATTRBEGIN and (
                    (entry.u.attr.typ, entry.u.attr.subtype) == (library.FST_AT_MISC, library.FST_MT_COMMENT)):
                file.write(b"$comment " + fst.ffi.string(entry.u.attr.name) + b" $end\n")
        read = library.fstReaderProcessHier(reader, file)
        library.fstReaderSetFacProcessMaskAll(reader)  # valid only after the names of signals are read
        read = read and library.fstReaderIterBlocks(reader, null, null, file)
    return 0 if read else 1


if __name__ == "__main__":
    sys.exit(_convert(*sys.argv[1:]))
