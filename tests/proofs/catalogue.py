# amaranth: UnusedElaboratable=no
"""All proofs: which harness, for which parameters, and how."""

from dataclasses import dataclass
from pathlib import Path

from . import solver
from .allocator import AllocatorHarness
from .branches import BranchHarness
from .buffer import BufferHarness
from .consumption import AbsorbedQueueHarness, ForwardedQueueHarness
from .deep_link import DeepLinkHarness
from .deep_switch import DeepSwitchHarness
from .dma_engine import BusHarness, DmaHarness
from .exported import ExportedInterfaceHarness, ExportedRouterHarness
from .forwarding import ForwardingHarness
from .harness import Harness, Property
from .link import LinkHarness
from .packet_queue import PacketQueueHarness
from .processor import ProcessorHarness
from .reports import ReportHarness
from .row_admission import RowAdmissionHarness
from .store import StoreHarness
from .streams import StreamReceiverHarness, StreamSenderHarness
from .switch import SwitchHarness
from .tokens import RingHarness, StationHarness

__all__ = ["PROOFS", "Proof"]


@dataclass(frozen=True)
class Proof:
    """All properties of a harness, proved together for one set of parameters.

    Parameters
    ----------
    harness : type
    parameters : dict
        Of the harness.
    induction : int or None
        Number of good cycles before the induction step. None: the properties are checked for ``cycles`` from reset
        only.
    cycles : int
        Maximum number of cycles from reset to find a mutant. Without induction, also the number of checked cycles.
    mutants : bool
        Mutants are searched with these parameters.
    slow : bool
        Only `make test-all` runs the proof. Most slow proofs take some seconds, all together minutes.
    """

    harness: type[Harness]
    parameters: dict
    induction: int | None = 1
    cycles: int = 10
    mutants: bool = False
    slow: bool = False

    def __str__(self):
        return f"{self.harness.component} {self.said}"

    @property
    def said(self) -> str:
        """Parameters, as text."""
        return ", ".join(f"{name} {value}" for name, value in self.parameters.items())

    @property
    def method(self) -> str:
        """Method of the proof, as the page prints it."""
        if self.induction is None:
            return f"bounded, {self.cycles} cycles"
        return f"induction, k = {self.induction}"

    def prove(self, folder: Path) -> solver.Outcome:
        """Prove all properties; the waveform of a violation is left in ``folder``."""
        harness = self.harness(**self.parameters)
        harness.inductive = self.induction is not None
        if self.induction is None:
            return solver.bounded(harness, self.cycles, self._waveform(folder, "all"))
        return solver.by_induction(harness, self.induction, self._waveform(folder, "all"))

    def find_mutant(self, broken: Property, folder: Path) -> solver.Outcome:
        """Check a property alone, on the mutant that must violate it."""
        with broken.mutant.applied():
            harness = self.harness(**self.parameters)
            harness.only = broken.name
            return solver.bounded(harness, self.cycles, self._waveform(folder, broken.name))

    def _waveform(self, folder, what) -> Path:
        # a map of classes has slashes
        given = "-".join(map(str, self.parameters.values())).replace("/", "_")
        return folder / f"{self.harness.__name__}-{what}-{given}.vcd"


#: Options of the exported components that a proof can handle.
SMALLEST = {"topology": "mesh:1x2", "scheme": "dual-path", "vcs": 1, "buffer": 2, "consumption": 1, "flit_width": 4}

PROOFS = [
    Proof(BufferHarness, {"vcs": 2, "depth": 2, "width": 4, "readers": 2}, mutants=True),
    Proof(BufferHarness, {"vcs": 2, "depth": 4, "width": 4, "readers": 1}),
    Proof(BufferHarness, {"vcs": 2, "depth": 4, "width": 4, "readers": 2}, slow=True),
    Proof(BufferHarness, {"vcs": 1, "depth": 1, "width": 4, "readers": 2}, slow=True),
    Proof(BufferHarness, {"vcs": 3, "depth": 3, "width": 4, "readers": 1}, slow=True),
    Proof(BufferHarness, {"vcs": 1, "depth": 3, "width": 4, "readers": 3}, slow=True),
    Proof(BranchHarness, {"vcs": 2, "depth": 2, "width": 4, "readers": 2}, mutants=True),
    Proof(BranchHarness, {"vcs": 1, "depth": 4, "width": 4, "readers": 2}, slow=True),
    Proof(BranchHarness, {"vcs": 1, "depth": 1, "width": 4, "readers": 2}, slow=True),
    Proof(BranchHarness, {"vcs": 1, "depth": 3, "width": 4, "readers": 4}, slow=True),
    Proof(LinkHarness, {"vcs": 2, "depth": 2}, mutants=True),
    Proof(LinkHarness, {"vcs": 2, "depth": 4}, slow=True),
    Proof(LinkHarness, {"vcs": 1, "depth": 1}, slow=True),
    Proof(LinkHarness, {"vcs": 3, "depth": 3, "classes": 2}, slow=True),
    Proof(LinkHarness, {"vcs": 2, "depth": 3, "delays": "fast"}, slow=True),
    Proof(LinkHarness, {"vcs": 3, "depth": 2, "classes": 2, "delays": "fast"}, slow=True),
    Proof(LinkHarness, {"vcs": 1, "depth": 2, "readers": "independent"}, induction=None, mutants=True, slow=True),
    Proof(LinkHarness, {"vcs": 2, "depth": 2, "readers": "independent"}, induction=None, cycles=8, slow=True),
    Proof(SwitchHarness, {"vcs": 1, "depth": 2, "addresses": 2}, mutants=True),
    Proof(SwitchHarness, {"vcs": 2, "depth": 2, "addresses": 1}),
    Proof(SwitchHarness, {"vcs": 2, "depth": 4, "addresses": 2}, slow=True),
    Proof(SwitchHarness, {"vcs": 2, "depth": 2, "addresses": 2, "delays": "fast"}, slow=True),
    Proof(SwitchHarness, {"vcs": 2, "depth": 2, "addresses": 2, "classes": "0+/0-"}, slow=True),
    Proof(SwitchHarness, {"vcs": 1, "depth": 2, "addresses": 2, "readers": "independent"}, induction=None, cycles=8,
          mutants=True, slow=True),
    Proof(SwitchHarness, {"vcs": 3, "depth": 1, "addresses": 1}, slow=True),
    Proof(StoreHarness, {"rows": 4, "chunk": 2, "width": 2, "readers": 2}, mutants=True),
    Proof(StoreHarness, {"rows": 3, "chunk": 3, "width": 3, "readers": 3}, slow=True),
    Proof(StoreHarness, {"rows": 2, "chunk": 2, "width": 2, "readers": 1}, slow=True),
    Proof(StoreHarness, {"rows": 4, "chunk": 4, "width": 3, "readers": 4}, slow=True),
    Proof(DeepLinkHarness, {"rows": 4, "chunk": 2, "outputs": 2}, mutants=True),
    Proof(DeepLinkHarness, {"rows": 2, "chunk": 3, "outputs": 1}, slow=True),
    Proof(DeepLinkHarness, {"rows": 5, "chunk": 3, "outputs": 3}, slow=True),
    Proof(DeepSwitchHarness, {"rows": 2, "chunk": 2, "inputs": 2, "outputs": 2}, induction=None, mutants=True,
          slow=True),
    Proof(DeepSwitchHarness, {"rows": 2, "chunk": 2, "inputs": 1, "outputs": 2}, induction=None, cycles=13, slow=True),
    Proof(DeepSwitchHarness, {"rows": 4, "chunk": 2, "inputs": 1, "outputs": 2}, induction=None, cycles=12, slow=True),
    Proof(DeepSwitchHarness, {"rows": 2, "chunk": 2, "inputs": 1, "outputs": 2, "flits": 2}, induction=None, cycles=13,
          slow=True),
    Proof(ForwardingHarness, {"order": "fpfs", "places": 2, "packet": 2, "channels": 1}, induction=None, mutants=True,
          slow=True),
    Proof(ForwardingHarness, {"order": "fpfs", "places": 2, "packet": 2, "channels": 2}, induction=None, slow=True),
    Proof(ForwardingHarness, {"order": "fpfs", "places": 1, "packet": 3, "channels": 1}, induction=None, cycles=11,
          slow=True),
    Proof(ForwardingHarness, {"order": "fcfs", "places": 2, "packet": 2, "channels": 1}, induction=None, cycles=12,
          slow=True),
    Proof(ForwardingHarness, {"order": "fcfs", "places": 2, "packet": 2, "channels": 2}, induction=None, cycles=11,
          slow=True),
    Proof(RowAdmissionHarness, {"rows": 2, "channels": 2, "sources": 2}, induction=None, cycles=12, mutants=True,
          slow=True),
    Proof(RowAdmissionHarness, {"rows": 2, "channels": 1, "sources": 1}, induction=None, cycles=11, slow=True),
    Proof(RowAdmissionHarness, {"rows": 4, "channels": 1, "sources": 2}, induction=None, cycles=9, slow=True),
    Proof(PacketQueueHarness, {"channels": 2, "places": 2, "flits": 1, "width": 1}, induction=None, cycles=9,
          mutants=True, slow=True),
    Proof(PacketQueueHarness, {"channels": 1, "places": 2, "flits": 2, "width": 1}, induction=None, cycles=10,
          slow=True),
    Proof(PacketQueueHarness, {"channels": 2, "places": 1, "flits": 2, "width": 1}, induction=None, cycles=9,
          slow=True),
    Proof(ForwardedQueueHarness, {"rows": 2, "channels": 2, "places": 1, "packet": 2, "t_nr": 0, "depth": 2},
          induction=None, cycles=8, mutants=True, slow=True),
    Proof(ForwardedQueueHarness, {"rows": 2, "channels": 1, "places": 2, "packet": 2, "t_nr": 2, "depth": 4},
          induction=None, cycles=12, slow=True),
    Proof(ForwardedQueueHarness, {"rows": 0, "channels": 2, "places": 2, "packet": 1, "t_nr": 0, "depth": 2},
          induction=None, cycles=9, slow=True),
    Proof(AbsorbedQueueHarness, {"slots": 1, "channels": 2, "places": 1, "packet": 1, "t_nr": 0, "depth": 2},
          induction=None, cycles=10, mutants=True, slow=True),
    Proof(AbsorbedQueueHarness, {"slots": 1, "channels": 1, "places": 2, "packet": 1, "t_nr": 0, "depth": 4},
          induction=None, cycles=12, slow=True),
    Proof(ProcessorHarness, {"receive": 1, "send": 1, "packets": 3, "t_nr": 3, "t_ns": 2, "order": "arrival"},
          mutants=True),
    Proof(ProcessorHarness, {"receive": 1, "send": 1, "packets": 4, "t_nr": 2, "t_ns": 0, "order": "receive-first"},
          slow=True),
    Proof(ProcessorHarness, {"receive": 2, "send": 2, "packets": 5, "t_nr": 1, "t_ns": 3, "order": "send-first"},
          slow=True),
    Proof(DmaHarness, {"links": 2, "flits": 4, "cycles": 3}, mutants=True),
    Proof(DmaHarness, {"links": 3, "flits": 1, "cycles": 2}, slow=True),
    Proof(DmaHarness, {"links": 3, "flits": 5, "cycles": 2}, slow=True),
    Proof(DmaHarness, {"links": 1, "flits": 2, "cycles": 3}, slow=True),
    Proof(BusHarness, {"side": "send"}, mutants=True),
    Proof(BusHarness, {"side": "send", "packet": 2, "t_ns": 2, "send_queue": 2}, slow=True),
    Proof(BusHarness, {"side": "send", "slots": 1, "slot_flits": 4}, slow=True),
    Proof(BusHarness, {"side": "send", "packet": 2, "send_queue": 1, "smart": True}, slow=True),
    Proof(BusHarness, {"side": "receive"}, slow=True),
    Proof(BusHarness, {"side": "receive", "packet": 2, "t_nr": 2, "queue": 2, "rows": 2}, slow=True),
    Proof(BusHarness, {"side": "receive", "packet": 2, "queue": 2, "slots": 1}, slow=True),
    Proof(AllocatorHarness, {"requesters": 3, "vcs": 2}, mutants=True),
    Proof(AllocatorHarness, {"requesters": 5, "vcs": 1}, slow=True),
    Proof(AllocatorHarness, {"requesters": 2, "vcs": 3}, slow=True),
    Proof(ReportHarness, {"vcs": 2, "depth": 2}, mutants=True, slow=True),
    Proof(ReportHarness, {"vcs": 1, "depth": 1}, slow=True),
    Proof(ReportHarness, {"vcs": 3, "depth": 4, "delays": "fast"}, slow=True),
    Proof(StationHarness, {"requesters": 2}),
    Proof(StationHarness, {"requesters": 4}, mutants=True, slow=True),
    Proof(StationHarness, {"requesters": 1}, slow=True),
    Proof(StationHarness, {"requesters": 8}, slow=True),
    Proof(RingHarness, {"stations": 2, "requesters": 2}, mutants=True, slow=True),
    Proof(RingHarness, {"stations": 1, "requesters": 4}, slow=True),
    Proof(RingHarness, {"stations": 4, "requesters": 2}, slow=True),
    Proof(RingHarness, {"stations": 3, "requesters": 4}, slow=True),
    Proof(ExportedRouterHarness, SMALLEST, induction=None, cycles=10, mutants=True, slow=True),
    Proof(ExportedInterfaceHarness, SMALLEST | {"queue": 2}, induction=None, cycles=12, mutants=True, slow=True),
    Proof(StreamReceiverHarness, {"vcs": 2, "width": 2}, mutants=True),
    Proof(StreamReceiverHarness, {"vcs": 1, "width": 3}, slow=True),
    Proof(StreamReceiverHarness, {"vcs": 3, "width": 1}, slow=True),
    Proof(StreamSenderHarness, {"queue": 2, "message": 2, "width": 2}, induction=None, cycles=14, mutants=True,
          slow=True),
    Proof(StreamSenderHarness, {"queue": 1, "message": 1, "width": 1}, induction=None, cycles=14, slow=True),
]
