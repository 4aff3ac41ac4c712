# amaranth: UnusedElaboratable=no
"""A deep switch from link to link: any flit of any worm, by whichever output it leaves."""

from amaranth.hdl import Module, Mux, Signal
from mask_decoder import MaskDecoder

from wormcast.hw import PortSpec
from wormcast.hw.deep import DeepSwitch
from wormcast.hw.deep.chunk_buffer import row_after

from .harness import Harness, Inside, Property, entry, implies
from .mutants import Mutant

__all__ = ["DeepSwitchHarness"]

READER = "deep.reader.RowReader.elaborate"


class DeepSwitchHarness(Harness):
    """A deep switch with its windows, rows and readers. The last output leads to a node with room for one flit.

    Worms arrive only if there is room for them. Each worm has a header with its outputs, and payload of one flit or
    more. Credits are arbitrary, but no credit arrives for a flit that was not sent.

    Parameters
    ----------
    rows, chunk, inputs, outputs : int
    flits : int
        Of a header.
    """

    component = "DeepSwitch"
    properties = (
        Property("order", "Each output sends only flits of worms that are routed to it. The flits of an input leave "
                          "once each, in the order of their arrival and unchanged, whether in cut-through or from "
                          "fetched rows.",
                 Mutant(READER, "(flit_passes & ~falls_behind & self.closes) | self.fetch_grant",
                        "(flit_passes & self.closes) | self.fetch_grant")),
        Property("whole", "From a worm's first flit to its tail, all flits that an output sends come from one input.",
                 Mutant("deep.switch.DeepSwitch._allocate", "& outputs[o].offer.free", "")),
        Property("readers", "A row that is fetched is closed and not free. An input never fetches a row in a cycle in "
                            "which it closes one. Rows are freed in the order in which they were closed. The number of "
                            "readers that take a flit in cut-through is at most the number of its worm's branches.",
                 Mutant("deep.row_scheduler.RowScheduler.elaborate", "(closed != self.fetch_row) & ~", "~")),
    )

    def __init__(self, *, rows: int, chunk: int, inputs: int, outputs: int, flits: int = 1):
        super().__init__()
        decoder = MaskDecoder(inputs=inputs, outputs=outputs, flits=flits)
        self.flits, self.count = flits, 5  # bits of a number of flits: more than cycles are looked at
        self.switch = DeepSwitch(
            inputs=[PortSpec(name, depth=rows * chunk, chunk=chunk) for name in decoder.inputs],
            outputs=[*(PortSpec(name, depth=rows * chunk, chunk=chunk) for name in decoder.outputs[:-1]),
                     PortSpec(decoder.outputs[-1], depth=1, to_node=True)],
            decoder=decoder, width=outputs)

    def elaborate(self, platform):
        m = Module()
        switch = self.switch
        inside = Inside(switch)
        m.submodules.switch = inside.fragment
        for port, [link] in zip(switch.outputs, switch.out_links, strict=True):
            self.leave_free(link.credit)
            self.assume(m, ~inside.parts[f"{port.name}_output"].component.credit_error)
        came = [self._input(m, i, inside) for i in range(len(switch.inputs))]
        for o, port in enumerate(switch.outputs):
            self._output(m, o, port.name, inside, came)
        return m

    def _input(self, m, i, inside):
        """Send worms to an input. Return for each output the number of flits, and the tracked flit: (place, flit)."""
        name = self.switch.inputs[i].name
        link, unit = self.switch.in_links[i], inside.parts[f"{name}_input"]
        store = unit.parts["store"].component
        self.leave_free(link.valid, link.flit)
        headers, within = Signal(range(self.flits + 1), name=f"{name}_headers"), Signal(name=f"{name}_within")
        mask, flit = Signal(len(self.switch.outputs), name=f"{name}_mask"), link.flit
        first = ~within & (headers == 0)
        m.d.sync += [
            headers.eq(Mux(link.valid, Mux(flit.head & ~flit.tail, headers + 1, 0), headers)),
            within.eq(Mux(link.valid, ~flit.tail & (within | ~flit.head), within)),
            mask.eq(Mux(link.valid & first, flit.data, mask)),
        ]
        self.assume(m, implies(link.valid, flit.head == (~within & (headers < self.flits))))
        self.assume(m, implies(link.valid & flit.head, ~flit.tail))
        self.assume(m, implies(link.valid & first, flit.data.any()))
        self.assume(m, implies(unit["arrives"], ~store.full))
        self._rows(m, unit, store)

        watch = self.free(name=f"{name}_watch")
        known, seen = Signal(name=f"{name}_known"), Signal(flit.shape(), name=f"{name}_seen")
        begins = link.valid & watch & ~known
        m.d.sync += [known.eq(known | begins), seen.eq(Mux(begins, flit, seen))]
        found = []
        for o in range(len(self.switch.outputs)):
            goes = link.valid & Mux(first, flit.data[o], mask[o])
            count, place, mine = (Signal(bits, name=f"{name}_{what}_{o}")
                                  for what, bits in (("came", self.count), ("place", self.count), ("mine", 1)))
            m.d.sync += count.eq(count + goes)
            with m.If(begins):
                m.d.sync += [place.eq(count), mine.eq(goes)]
            found.append((count, mine, place, seen))
        return found

    def _rows(self, m, unit, store):
        """Claim the behaviour of readers that the proof of the rows assumes."""
        counter = entry([unit[f"store.row{k}_pending"] for k in range(store.rows)], store.fetch_row[:-1])
        oldest = Signal(store.fetch_row.shape(), name=f"oldest_{self.switch.inputs[unit.component.port].name}")
        fetched, unread = store.fetch & (counter == 1), store.close & (store.needed == 0)
        with m.If(fetched | unread):
            m.d.sync += oldest.eq(row_after(oldest, store.rows))
        self.claim(m, "readers", implies(store.fetch, ~store.close & (store.fetch_row != store.closed_row)
                                         & (counter != 0)))
        self.claim(m, "readers", implies(fetched, store.fetch_row == oldest))
        self.claim(m, "readers", implies(unread, store.closed_row == oldest))
        window, here = unit.parts["window"].component, unit.component
        self.claim(m, "readers", implies(here.passes, here.follows <= window.worm_info))

    def _output(self, m, o, name, inside, came):
        reader, source = inside.parts[f"{name}_reader"].component, inside[f"{name}_source"]
        within, owner = Signal(name=f"{name}_sends"), Signal(len(source), name=f"{name}_owner")
        with m.If(reader.send):
            m.d.sync += [within.eq(~reader.flit.tail), owner.eq(source)]
        self.claim(m, "whole", implies(reader.send & within, source == owner))
        for i, of_input in enumerate(came):
            count, mine, place, seen = of_input[o]
            gone, sends = Signal(self.count, name=f"{name}_gone_{i}"), reader.send & source[i]
            m.d.sync += gone.eq(gone + sends)
            self.claim(m, "order", implies(sends, gone != count))
            self.claim(m, "order", implies(sends & mine & (gone == place), reader.flit == seen))
