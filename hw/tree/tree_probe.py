"""Probe of a tree input: what the branches of the worm at its front hold and request."""

from collections.abc import Callable
from typing import Any

from ..input_probe import FOR_TOKEN, LINKS, TOKEN, BranchesProbe, Of, Wait
from .switch_spec import TreeSwitchSpec, branches_of

__all__ = ["TreeProbe"]

DROPS = 1


class TreeProbe(BranchesProbe):
    """State of the worm at the front of a virtual channel of a `TreeInput`.

    The worm's branches request and send independently, or in lockstep. A worm holds the virtual channels of its
    branches until their tails are sent and their reports, if any, have arrived. A worm that was granted the token holds
    it until all branches have reported.
    """

    def __init__(self, router: TreeSwitchSpec, port: int, vc: int):
        super().__init__(router, port, vc, router.string_decoder.leads(port))
        self.branches = branches_of(self.leads, router.replication)
        self.readers = len(self.branches)
        self._branch = {o: b for b, branch in enumerate(self.branches) for o in branch}
        self._vc = {o: f"vc__{router.outputs[o].name}" for o in self.leads}
        tokens = {"needs_token": not router.has_tokens}
        reports = dict.fromkeys(("splits", "awaited", "own_report_due"), not router.has_reports)
        only = {name: router.outputs[o].vcs == 1 for o, name in self._vc.items()}
        self._lacking = {name for name, lacks in {**tokens, **reports, **only}.items() if lacks}

    def register(self, name: str) -> str | None:
        return None if name in self._lacking else f"{self.scope}.{name}"

    def reader(self, output: int) -> int:
        return self._branch[output]

    def together(self, output: int) -> list[int]:
        return self.branches[self._branch[output]]

    @property
    def position(self) -> str:
        if self.readers == 1:
            return super().position
        return f"{self.name}_input.buffer.vc{self.vc}_" + ("front_at" if self.spec.depth > 1 else "filled")

    def unread(self, read: Callable[[str], Any]) -> list[Any]:
        """Return a list: for each branch the number of stored flits that it has not taken, 0 after its tail.

        If the input has several branches, the last entry of the list is the number of all flits in the buffer.
        """
        if self.readers == 1:
            return super().unread(read)
        needed = [read(f"{self.scope}.branch__{b}__left") for b in range(self.readers)]
        before = [self._before(read, f"read{b}_at", f"filled{b}") * left for b, left in enumerate(needed)]
        return [*before, self._before(read, "front_at", "filled")]

    def _start(self, reader: int) -> str:
        return "front_at" if reader == self.readers > 1 else super()._start(reader)

    def waits(self) -> list[Wait]:
        found: list[Wait] = []
        token = self.register("needs_token")
        for b, branch in enumerate(self.branches):
            needs = "needs_consumption" if branch[0] in self.ejection_ports else "needs_link"
            found.append({needs: f"{self.scope}.branch__{b}__left", "owns": f"{self.scope}.branch__{b}__owned"})
            if token:
                found[-1]["no_wait"] = token
        return [*found, {"token": token}] if token else found

    def _left(self, of: Of) -> Any:
        """Return true while a branch has not sent its tail."""
        found: Any = False
        for b in range(len(self.branches)):
            found = found | (of(f"branch__{b}__left") != 0)
        return found

    def _bit(self, of: Of, name: str, b: int) -> Any:
        return (of(name) >> b) & 1

    def _ended(self, of: Of) -> Any:
        """Return true if no report is outstanding, neither of a branch nor the worm's own."""
        return (of("awaited") == 0) & (of("own_report_due") == 0)

    def active(self, of: Of) -> Any:
        return self._left(of) | (of("drops") != 0) | (self._ended(of) == 0)

    def consuming(self, of: Of) -> list[tuple[int, Any]]:
        return [(b, (of(f"branch__{b}__left") & of(f"branch__{b}__owned")) != 0)
                for b, branch in enumerate(self.branches) if branch[0] in self.ejection_ports]

    def owns(self, of: Of) -> list[tuple[int, Any, Any]]:
        found = []
        for i, output in enumerate(self.leads):
            b = self._branch[output]
            owned = (of(f"branch__{b}__owned") != 0) & (self._bit(of, "targets", i) != 0)
            ends = of(f"branch__{b}__left") == 0
            if output not in self.ejection_ports:
                ends &= self._bit(of, "awaited", i) == 0
            found.append((output, owned & (ends == 0), of(self._vc[output])))
        return [*found, (TOKEN[0], self._has_token(of), 0 * of("targets"))]

    def _has_token(self, of: Of) -> Any:
        """Return true while the worm holds the token: it is replicated here, and a branch has not reported."""
        has = self.register("needs_token") is not None
        return (of("splits") != 0) & (of("needs_token") == 0) & (of("awaited") != 0) & has

    def waiting(self, of: Of) -> Any:
        asked = 0
        for i, output in enumerate(self.leads):
            b = self._branch[output]
            wanted = of(f"branch__{b}__left") & self._bit(of, "targets", i) & (of(f"branch__{b}__owned") == 0)
            asked = asked + (wanted << LINKS + i)
        free = of("needs_token") == 0
        return self.asking(asked * free) | FOR_TOKEN * (of("needs_token") != 0)

    def going(self, of: Of) -> Any:
        return (self.active(of) != 0) * (DROPS * (of("drops") != 0) + (of("targets") << LINKS))
