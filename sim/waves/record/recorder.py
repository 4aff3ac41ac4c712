"""Recording of an engine's next cycles as a VCD waveform."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from vcd import VCDWriter
from vcd.writer import Variable

from ...build.fabric import FabricLink
from ...engines.bulk import BulkEngine, observer
from ...engines.forwarded import Forwarded, follow_forwarding
from ...lowering import Observer
from .changes import Changes
from .columns import Columns
from .heading import ABOVE, PERIOD, RecordingFacts, heading
from .instances import links_at
from .interfaces import declare_interfaces, interfaces_at
from .layout_files import beside
from .slots import slots_at, trace_all
from .trace import LinkTrace
from .viewer_setup import groups_of, write_gtkwave, write_surfer, write_translation
from .worm_signals import declare_worms

__all__ = ["record"]

UNKNOWN = "[unknown]"
#: Names of hardware signals that get a second name in the scopes of links and routers (`declare_worms`): the state of
#: an input virtual channel, and the credits in use of an output's virtual channel.
NAMED = re.compile(r"state|vc\d+_spent")
#: For words of at most `FEW_BITS` bits, the VCD line of each possible value is formatted in advance.
FEW_BITS = 3

Line = Callable[[int], str]


def record(engine: BulkEngine, path: Path, cycles: int, instances: Sequence[tuple[str, int]], about: RecordingFacts, *,
           first: int) -> None:
    """Run an engine and write a VCD file with all signals of some instances.

    The file also has the worms on the links of these instances, and the state of the recorded routers' ports as text
    (`declare_worms`). Layouts for GTKWave and Surfer, and the texts of ``waits_id``, are written beside the VCD file
    (`beside`).

    The engine runs for ``cycles`` cycles, also after everything is delivered. Names, values and times of the instances'
    signals equal those in a waveform of the ``amaranth`` engine. In the file, cycle c lasts from c - 1/2 to c + 1/2 ns,
    with a falling clock edge in the middle. In the file, cycle 0 lasts from 0 to 1/2 ns, without a falling clock edge.
    ``rst`` is always 0. Recordings of equal cycles and instances of the same run have equal bytes.

    Parameters
    ----------
    engine : BulkEngine
        Its next cycle is ``first``.
    path : Path
    cycles : int
        Number of cycles, at least 1.
    instances : sequence of (str, int)
        Kind of component and number of the instance.
    about : RecordingFacts
    first : int
        Number of the engine's next cycle, which is recorded first.
    """
    links = [*links_at(engine.network, instances, about.lane), *slots_at(engine.network, instances, about.lane)]
    trace = trace_all(engine, links, cycles, about.lane)
    nodes = interfaces_at(engine.network, instances)
    forwarded = follow_forwarding(engine, nodes, cycles, first) if nodes else None
    groups = groups_of(engine.network, engine.host, about, links, trace, instances)
    with path.open("w") as file:
        wave = _Wave(engine, file, instances, about, links, trace, first, forwarded)
        for cycle in range(first, first + cycles):
            engine.gather()
            wave.show(cycle)
            engine.run(1, beyond=True)
        wave.close(first + cycles)
    layouts = write_gtkwave(groups, about, trace, first), write_surfer(groups), write_translation(wave.waits)
    for layout, text in zip(beside(path), layouts, strict=True):
        layout.write_text(text)


def _start(cycle: int) -> int:
    """Return the start of a cycle in femtoseconds."""
    return max(0, cycle * PERIOD - PERIOD // 2)


class _Wave:
    """VCD file of some instances of an engine, from cycle ``first`` on.

    The library ``vcd`` writes names and initial values. Changes are written without the library ``vcd``, which needs
    several times as long to write changes.
    """

    def __init__(self, engine: BulkEngine, file: TextIO, instances: Sequence[tuple[str, int]], about: RecordingFacts,
                 links: Sequence[FabricLink], trace: LinkTrace, first: int, forwarded: Forwarded | None):
        self._file = file
        self._first = first
        worms = np.union1d(trace.held, trace.front)
        comment = heading(engine.network, engine.host, about, links, worms[worms >= 0].tolist(), first,
                          first + len(trace.held))
        # no date, so that recordings of equal cycles have equal bytes
        self._writer = VCDWriter(file, timescale="1 fs", date="", comment=comment, init_timestamp=_start(first))
        self._clock = self._writer.register_var(ABOVE[:2], "clk", "wire", size=1, init=int(first > 0))
        self._writer.register_var(ABOVE[:2], "rst", "wire", size=1, init=0)
        self._named: dict[tuple[str, ...], Variable[Any]] = {}
        self._tiles: list[tuple[Changes, list[Line]]] = []
        engine.gather()
        for kind in dict.fromkeys(kind for kind, _ in instances):
            kernel = engine.kernels[kind]
            shown = observer(engine.network.kinds[kind], kernel)
            tiles: dict[int, list[int]] = {}
            for index in sorted({index for name, index in instances if name == kind}):
                tiles.setdefault(index // kernel.vector_width, []).append(index)
            for members in tiles.values():
                changes = Changes(shown, engine.blocks[kind], members)
                changes.look()
                names = [engine.network.kinds[kind].instances[index] for index in members]
                self._tiles.append((changes, self._declare(shown, changes, names)))
                for _ in changes.new():
                    pass  # initial values are no changes: they are written with the declarations
        self._worms = Columns(self._writer)
        self.waits = declare_worms(self._worms, engine.network, instances, about, links, trace, self._named)
        if forwarded is not None:
            declare_interfaces(self._worms, engine.network, engine.host, instances, about, forwarded, first,
                               len(trace.held))
        self._worms.finish()
        self._writer.flush()

    def _declare(self, shown: Observer, changes: Changes, names: list[str]) -> list[Line]:
        """Declare all signals of the instances ``names``.

        Return a function for each word of each instance: it formats a new value of the word.
        """
        numbers = {word: index * len(names) for index, word in enumerate(shown.words)}
        written: dict[int, list[tuple[Variable[Any], dict[int, str] | None]]] = {}
        for place, name in enumerate(names):
            known: dict[tuple[str, bool, str], Variable[Any]] = {}
            for signal in shown.signals:
                scope = (*ABOVE, name, *signal.scope)
                if signal.clock:
                    self._writer.register_alias(scope, signal.name, self._clock)
                    continue
                if signal.word is None:
                    continue  # no bits
                key = signal.word, signal.labels is not None, repr(signal.labels)
                if key in known:
                    self._writer.register_alias(scope, signal.name, known[key])
                else:
                    number = numbers[signal.word] + place
                    value: Any = changes.value(number)
                    if signal.labels is None:
                        variable = self._writer.register_var(scope, signal.name, "wire", size=signal.width, init=value)
                    else:
                        label = signal.labels.get(value, UNKNOWN)
                        variable = self._writer.register_var(scope, signal.name, "string", size=1, init=label)
                    known[key] = variable
                    written.setdefault(number, []).append((variable, signal.labels))
                if NAMED.fullmatch(signal.name):
                    self._named[name, *signal.scope, signal.name] = known[key]
        return [_line(written[index * len(names) + place], word.bits)
                for index, word in enumerate(shown.words.values()) for place in range(len(names))]

    def show(self, cycle: int) -> None:
        """Write the changes of signals in cycle ``cycle``.

        Before this call the engine must gather the signals of links (`gather`).
        """
        if cycle > self._first:
            lines = [f"#{_start(cycle)}\n1{self._clock.ident}\n"]
            for changes, written in self._tiles:
                changes.look()
                lines += [written[number](value) for number, value in changes.new()]
            lines.append(self._worms.lines(cycle - self._first))
            self._file.write("".join(lines))
        if cycle:
            self._file.write(f"#{cycle * PERIOD}\n0{self._clock.ident}\n")

    def close(self, cycle: int) -> None:
        """End the waveform at the start of cycle ``cycle``."""
        self._file.write(f"#{_start(cycle)}\n")


def _line(variables: list[tuple[Variable[Any], dict[int, str] | None]], width: int) -> Line:
    """Return a formatter of a word's new value: the lines of all variables that show the word of ``width`` bits."""

    def line(value: int) -> str:
        return "".join(
            f"{variable.format_value(labels.get(value, UNKNOWN) if labels else value, check=False)}\n"
            for variable, labels in variables
        )

    if width <= FEW_BITS:
        return [line(value) for value in range(1 << width)].__getitem__
    if len(variables) == 1 and variables[0][1] is None:
        ident = variables[0][0].ident
        return lambda value: f"b{value:b} {ident}\n"
    return line
