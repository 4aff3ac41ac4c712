"""FST waveforms, as the VCD that they stand for: ``python -m wormcast.sim.waves.view.fst FST VCD`` writes it.

The library for these files ends the process that reads a damaged one, so a process of its own reads it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from wormcast.algorithms import WormcastError

from ...common.requirements import require

__all__ = ["is_fst", "write_vcd"]

#: How these files begin: a block of type 0, of 329 bytes; or one of type 254, which holds all others compressed.
HEADER, COMPRESSED = b"\x00" + (329).to_bytes(8, "big"), b"\xfe"


def is_fst(begin: bytes) -> bool:
    """Whether a file that begins so is an FST waveform."""
    return begin.startswith((HEADER, COMPRESSED))


def write_vcd(path: Path, vcd: Path) -> None:
    """Write the VCD that an FST waveform stands for.

    Raises
    ------
    ToolMissing
        The library is not there.
    WormcastError
        The file is damaged.
    """
    require("pylibfst", "fst")
    with tempfile.TemporaryDirectory() as folder:
        # the library writes files of its own beside the one that it reads
        link = Path(folder, "wave.fst")
        link.symlink_to(path.resolve())
        done = subprocess.run([sys.executable, "-P", "-m", __name__, link, vcd], capture_output=True)
    if done.returncode != 0:
        raise WormcastError(f"{path} is damaged: it cannot be read as an FST waveform")


def _convert(path: str, vcd: str) -> int:
    """Write comments, which the library leaves out, then what it writes; return the exit code."""
    fst = require("pylibfst", "fst")
    library, null = fst.lib, fst.ffi.NULL
    comments, reader = (library.fstReaderOpen(path.encode()) for _ in range(2))  # each goes through the names once
    if null in (comments, reader):
        return 1
    with open(vcd, "wb", buffering=0) as file:
        while (entry := library.fstReaderIterateHier(comments)) != null:
            if entry.htyp == library.FST_HT_ATTRBEGIN and (
                    (entry.u.attr.typ, entry.u.attr.subtype) == (library.FST_AT_MISC, library.FST_MT_COMMENT)):
                file.write(b"$comment " + fst.ffi.string(entry.u.attr.name) + b" $end\n")
        read = library.fstReaderProcessHier(reader, file)
        library.fstReaderSetFacProcessMaskAll(reader)  # of the signals that are known by now
        read = read and library.fstReaderIterBlocks(reader, null, null, file)
    return 0 if read else 1


if __name__ == "__main__":
    sys.exit(_convert(*sys.argv[1:]))
