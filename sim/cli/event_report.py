"""Printed report of events and their energy."""

from ..common.text import rounded
from ..engines.event_counters import COUNTED
from ..experiments.events import EventSums
from .app import say, table

__all__ = ["report_events", "report_places"]


def report_events(sums: EventSums) -> None:
    """Print the events per flit and per message, and with a table of costs their energy."""
    costs = sums.table
    rows: list[list[object]] = []
    for event in COUNTED:
        per_flit, per_message = sums.per_flit(event), sums.per_message(event)
        row: list[object] = [_word(event), rounded(per_flit.mean, 3), rounded(per_flit.half_width, 3),
                             rounded(per_message.mean, 1)]
        if costs is not None:
            cost = costs.picojoules.get(event)
            row += [cost, None if cost is None else rounded(sums.energy_per_flit(event).mean, 3)]
        rows.append(row)
    if costs is not None:
        whole = sums.energy_per_flit()
        rows.append(["energy in pJ", rounded(whole.mean, 3), rounded(whole.half_width, 3),
                     rounded(sums.energy_per_message().mean, 1), None, rounded(whole.mean, 3)])
    table(["events", "per received flit", "+-", "per message", *(["pJ each", "pJ"] if costs else [])], rows)
    if costs is None:
        return
    whole_energy = float(sums.energy.sum())
    if whole_energy:
        kind, name, _, energy = max(sums.places(), key=lambda place: place[3])
        say(f"most energy: {kind} {name}, {energy / whole_energy:.1%} of {whole_energy:.4g} pJ")
    say(f"costs: {costs.source}" + (f"; {costs.technology}" if costs.technology else ""))
    if costs.free:
        say(f"no cost: {', '.join(map(_word, costs.free))}")


def report_places(sums: EventSums) -> None:
    """Print the events of each router and interface, components with the most energy or events first."""
    places = list(sums.places())
    for kind in ("router", "interface"):
        mine = [place for place in places if place[0] == kind]
        shown = [row for row in range(len(COUNTED)) if any(events[row] for _, _, events, _ in mine)]
        costs = sums.table is not None and any(sums.table.picojoules.get(COUNTED[row]) for row in shown)
        mine.sort(key=lambda place: (-place[3], -int(place[2].sum())))
        table([kind, *(_word(COUNTED[row]) for row in shown), *(["pJ"] if costs else [])],
              [[name, *(int(events[row]) for row in shown), *([round(energy, 1)] if costs else [])]
               for _, name, events, energy in mine])


def _word(event: str) -> str:
    """Return an event as text: ``buffer write``."""
    return event.replace("_", " ")
