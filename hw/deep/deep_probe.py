"""Probe of a deep input: what the branches of the worm at its front hold, request and have read."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..input_probe import ALTERNATIVES, LINKS, TURN, BranchesProbe, Of, Wait
from ..mark import Mark
from .switch_spec import DeepSwitchSpec

__all__ = ["DeepProbe"]


class DeepProbe(BranchesProbe):
    """State of the worm at the front of a `DeepInput`, whose branches request, read and send independently.

    A worm holds an output while the output's reader still has flits of this worm to take from the input's buffer.
    `leaving` returns the flits, up to two rows, that an output's reader has taken from a buffer and not sent.
    """

    def __init__(self, router: DeepSwitchSpec, port: int, vc: int):
        super().__init__(router, port, vc, router.branching.leads(port))
        self.readers = len(self.leads) + 1
        self.rows, self.chunk, self.width = router.rows, router.chunk, router.width
        self.port = port
        self._choices = router.branching.choices(port)
        self._outputs = [output.name for output in router.outputs]

    @property
    def frame(self) -> str:
        return f"{self.name}_input.intake.under_way"

    def register(self, name: str) -> str | None:
        if name == "options" and not self._choices:
            return None
        what, _, output = name.partition(" ")
        return f"{self._outputs[int(output)]}_reader.{what}" if output else f"{self.scope}.{name}"

    def _wants(self, output: int) -> str:
        """Return the name of the register that is 1 while the worm requests an output, for a branch of its own."""
        return f"wants__{self._outputs[output]}"

    def _requests(self, of: Of, output: int) -> Any:
        """Return true while the worm requests an output, alone or as an alternative."""
        requested = of(self._wants(output)) != 0
        if output not in self._choices:
            return requested
        return requested | ((of("options") >> self._choices.index(output) & 1) != 0)

    def reader(self, output: int) -> int:
        return self.leads.index(output)

    def together(self, output: int) -> list[int]:
        return [output]

    def waits(self) -> list[Wait]:
        waits = [{"needs_consumption" if o in self.ejection_ports else "needs_link": f"{self.scope}.{self._wants(o)}"}
                 for o in self.leads]
        return [*waits, {"needs_link": f"{self.scope}.options"}] if self._choices else waits

    def _reads(self, of: Of, output: int) -> Any:
        """Return true while an output's reader has flits of the worm to take."""
        return (of(f"holding {output}") != 0) & ((of(f"owner {output}") >> self.port & 1) != 0)

    def active(self, of: Of) -> Any:
        found: Any = False
        for o in self.leads:
            found = found | self._requests(of, o) | self._reads(of, o)
        return found

    def consuming(self, of: Of) -> list[tuple[int, Any]]:
        return [(self.reader(o), self._reads(of, o)) for o in self.ejection_ports]

    def owns(self, of: Of) -> list[tuple[int, Any, Any]]:
        return [(o, self._reads(of, o), 0 * of(f"holding {o}")) for o in self.leads]

    def unread(self, read: Callable[[str], Any]) -> list[Any]:
        """Return the number of flit places of the buffer that each branch has not read, and last the number of occupied
        flit places.

        In the returned numbers, a completed row counts as ``chunk`` flit places, and rows of later worms are included.

        A branch that waits for its output has not read any flit place of its worm.
        """
        filled, filling = self._stored(read)
        return [*(self._ahead(output, filling, read) for output in self.leads), filled * self.chunk + filling]

    def ready(self, read: Callable[[str], Any]) -> list[Any]:
        # without cut-through a reader takes only filled rows: flits of a partly filled row are not ready
        filled, filling = self._stored(read)
        comes = read(f"{self.name}_input.arrives") != 0
        found = []
        for output in self.leads:
            reader = f"{self._outputs[output]}_reader"
            follows = (read(f"{reader}.following") != 0) | comes
            on_its_way = read(f"{reader}.was_fetched") != 0
            found.append(self._ahead(output, np.where(follows, filling + comes, 0), read) + on_its_way)
        return [*found, filled * self.chunk]

    def _ahead(self, output: int, filling: Any, read: Callable[[str], Any]) -> Any:
        """Return the number of flit places that the branch to an output has not read.

        ``filling`` is the number of flits in the row that is being filled.
        """
        written, begins = (read(f"{self.name}_input.{name}") for name in ("store.write_row", "channel_0.start_row"))
        reader = f"{self._outputs[output]}_reader"
        mine = (read(f"{reader}.holding") != 0) & (read(f"{reader}.owner") >> self.port & 1 != 0)
        at = np.where(mine, read(f"{reader}.row"), begins)
        place = mine * (read(f"{reader}.following") != 0) * read(f"{reader}.place")
        ahead = self._rows_between(at, written) * self.chunk + filling - place
        requested = self._requests(lambda name: read(f"{self.scope}.{name}"), output)
        return np.where(mine | requested, ahead, 0)

    def _stored(self, read: Callable[[str], Any]) -> tuple[Any, Any]:
        """Return the number of filled rows, and of flits in the row that is being filled."""
        used, filling, over = (read(f"{self.name}_input.store.{name}") for name in ("used", "bank", "over"))
        filling = filling * (over == 0)
        return used - (filling != 0), filling

    def _rows_between(self, start: Any, end: Any) -> Any:
        """Return the number of rows from row number ``start`` to row number ``end`` in the ring."""
        bits = (self.rows - 1).bit_length()
        laps, (first, last) = (start >> bits) != (end >> bits), ((row & (1 << bits) - 1) for row in (start, end))
        return last - first + laps * self.rows

    def flits(self, read: Callable[[str], Any]) -> list[int]:
        """Return the stored flits of an input, oldest first, in the format of shallow buffers: data, head mark, `Mark`.
        """
        filled, filling = map(int, self._stored(read))
        written = int(read(f"{self.name}_input.store.write_row")) & (1 << (self.rows - 1).bit_length()) - 1
        banks = [read(f"{self.name}_input.store.bank_{k}") for k in range(self.chunk)]
        found = []
        for row in range(written - filled, written + (filling != 0)):
            for k in range(self.chunk if row < written else filling):
                flit = int(banks[k][row % self.rows])
                found.append(self._as_row(flit))
                if flit >> 1 & 1:
                    break
        return found

    def leaving(self, output: int, read: Callable[[str], Any]) -> list[int]:
        reader, found = f"{self._outputs[output]}_reader", []
        for name, first in (("current", int(read(f"{reader}.place"))), ("behind", 0)):
            if not int(read(f"{reader}.has_{name}")):
                continue
            for k in range(first, self.chunk):
                flit = int(read(f"{reader}.{name}_{k}"))
                found.append(self._as_row(flit))
                if flit >> 1 & 1:
                    break
        return found

    def _as_row(self, flit: int) -> int:
        from ..link import flit_layout  # imports Amaranth

        assert flit_layout(self.width)["tail"].offset == 1
        head, tail = flit & 1, flit >> 1 & 1
        mark = Mark.TAIL if tail else Mark.PAYLOAD
        return flit >> 2 | (head & ~tail | (0 if head & ~tail else mark.value << 1)) << self.width

    def waiting(self, of: Of) -> Any:
        requested = 0
        for i, output in enumerate(self.leads):
            requested = requested + (self._requests(of, output) * 1 << LINKS + i)
        # the outputs to other switches are requested all as alternatives, or each for a branch of its own
        return self.asking(requested) | (of("options") != 0) * ALTERNATIVES

    def going(self, of: Of) -> Any:
        # bit `TURN` distinguishes two worms that follow each other without a cycle between them
        # while a worm waits for one of several alternatives, bit 0 of the code is set, and no bit of an alternative
        found = (of("options") != 0) * 1
        for i, output in enumerate(self.leads):
            found = found | ((of(self._wants(output)) != 0) | self._reads(of, output)) * (1 << LINKS + i)
        return found | (found != 0) * (of("turn") << TURN)
