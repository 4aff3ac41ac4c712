"""Generator of FuseSoC: ``python generate.py INPUT.yml`` writes Verilog, and a core with this Verilog, into the working
folder.

The parameters are the arguments of ``wormcast verilog``: ``what``, and options without their dashes. `wormcast` runs as
a program of its own, so that a core fails with the command's message and exit code.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["command", "core"]

#: Options of ``wormcast verilog`` for files: FuseSoC gets the files that this program names.
FILES = ("output", "tables", "sdc", "sva")


def command(parameters: dict[str, Any], file: str) -> list[str]:
    """Return the arguments of ``wormcast`` that export the hardware described by a core's ``parameters`` to ``file``.

    The value true stands for an option without a value; a parameter with the value false is left out.

    Raises
    ------
    ValueError
        ``what`` is missing, or a parameter names a file.
    """
    if "what" not in parameters:
        raise ValueError("parameters: what is missing. Needed: network, router, interface, or a part of them.")
    words = ["verilog", str(parameters["what"]), "--output", file]
    for name, value in parameters.items():
        option = name.replace("_", "-")
        if option in FILES:
            raise ValueError(f"parameters: {name} is not valid: the generator chooses the file names. "
                             "Allowed: options of wormcast verilog that name no file.")
        if option != "what" and value is not False:
            words += [f"--{option}"] if value is True else [f"--{option}", str(value)]
    return words


def core(name: str, file: str) -> str:
    """Return the text of a core with one file of Verilog."""
    return f"""CAPI=2:
name: {name}
filesets:
  rtl:
    files: [{file}]
    file_type: verilogSource
targets:
  default:
    filesets: [rtl]
"""


def main() -> int:
    """Run the command, and return its exit code."""
    import yaml

    given = yaml.safe_load(Path(sys.argv[1]).read_text())
    name, file = given["vlnv"], "wormcast.v"
    try:
        words = command(given["parameters"] or {}, file)
    except ValueError as error:
        print(f"wormcast: {error}", file=sys.stderr)
        return 2
    code = subprocess.run([sys.executable, "-m", "wormcast", *words], check=False).returncode
    if not code:
        Path("wormcast.core").write_text(core(name, file))
    return code


if __name__ == "__main__":
    sys.exit(main())
