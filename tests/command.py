"""The command line in a process of its own, forked from one that has loaded all of it: a second less each time."""

import multiprocessing
import os
import re
import sys
import tempfile
from multiprocessing import forkserver
from pathlib import Path
from unittest import mock

__all__ = ["NOTICE", "wormcast"]

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["warm_command"])


#: Said on stderr where a compiler takes half a minute: it depends on the machine alone.
NOTICE = re.compile(r"wormcast: compiling [^\n]* \(first use only[^\n]*\)\n")


def wormcast(*arguments, cwd=None, lacking=None):
    """Run the command; return exit code, stdout, and stderr without the notice of a slow compiler.

    Parameters
    ----------
    lacking : extras.Hidden, optional
        What the installation does not have.
    """
    _require_server()
    with tempfile.TemporaryDirectory() as folder:
        texts = [Path(folder, name) for name in ("out", "err")]
        process = PROCESSES.Process(target=_run, args=([*map(str, arguments)], cwd, dict(os.environ), texts, lacking))
        process.start()
        process.join()
        out, err = (text.read_text() for text in texts)
    return process.exitcode, out, NOTICE.sub("", err)


def _require_server():
    """Start the process to fork from, if there is none, where it finds what it loads and apart from a test's cache."""
    others = {name: value for name, value in os.environ.items() if name != "WORMCAST_CACHE"}
    tests = Path(__file__).parent
    paths = os.pathsep.join([str(tests), str(tests.parent / "src")])  # of this tree, whichever is installed
    with mock.patch.dict(os.environ, {**others, "PYTHONPATH": paths}, clear=True):
        forkserver.ensure_running()


def _run(arguments, cwd, environment, texts, lacking):
    for descriptor, text in zip((1, 2), texts, strict=True):
        os.dup2(os.open(text, os.O_WRONLY | os.O_CREAT), descriptor)
    os.environ.clear()
    os.environ.update(environment)
    if cwd is not None:
        os.chdir(cwd)
    sys.argv = ["wormcast", *arguments]
    if lacking is not None:
        lacking.hide()
    from wormcast.sim.cli import main
    main()
