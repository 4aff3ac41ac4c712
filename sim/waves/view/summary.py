"""Times and counts of each worm in a history."""

from collections.abc import Collection
from dataclasses import asdict
from itertools import chain
from typing import Any

from .history import History, RecordedHold
from .worm_choice import shown_worms

__all__ = ["summarise", "to_dict"]


def summarise(history: History) -> list[dict[str, Any]]:
    """Return times and counts of each worm, as plain data.

    - ``injected``: first cycle with a flit of the worm on its injection link.
    - ``arrived``: first cycle with a flit of the worm on a consumption link.
    - ``delivered``: cycle of the worm's last tail on a consumption link, if the tail was ejected at all destinations.
    - ``nodes``: number of destinations at which the worm's tail was ejected.
    - ``blocked``: number of cycles in which the worm holds virtual channels and has no flit on any of them.
    - ``waits``: number of cycles in which a request of the worm's header is not granted.

    A value is None if it is not recorded, or if the event may be before the first cycle or on a link that is not
    recorded.
    """
    return [_worm(history, number) for number in shown_worms(history)]


def _worm(history: History, number: int) -> dict[str, Any]:
    worm = history.worms[number]
    holds = [hold for hold in history.holds if hold.worm == number]
    by_kind = {kind: [hold for hold in holds if history.links[hold.link].kind == kind]
               for kind in ("injection", "consumption")}
    delivered = {history.links[hold.link].target: hold for hold in history.deliveries if hold.worm == number}
    recorded = {link.target for link in history.links if link.kind == "consumption"}
    everywhere = recorded.issuperset(worm.destinations)
    last = max((hold.last for hold in delivered.values()), default=None)
    all_flits = set(chain.from_iterable(hold.flits for hold in holds))
    held = set(chain.from_iterable(range(hold.first, hold.last + 1) for hold in holds))
    asking = set(chain.from_iterable(range(wait.first, wait.last + 1) for wait in history.waits if wait.worm == number))
    return {
        "worm": number, "message": worm.message, "source": worm.source, "destinations": list(worm.destinations),
        "length": worm.length,
        "injected": _first_flit(history, by_kind["injection"]),
        "arrived": _first_flit(history, by_kind["consumption"]) if everywhere else None,
        "delivered": last if delivered.keys() >= {*worm.destinations} else None,
        "nodes": len(delivered), "recorded": len(recorded.intersection(worm.destinations)),
        "blocked": len(held - all_flits) if history.is_whole else None, "waits": len(asking),
    }


def _first_flit(history: History, holds: list[RecordedHold]) -> int | None:
    """Return the first cycle with a flit in the holds; None without a flit, or if a hold may be cut (`is_cut`)."""
    if any(map(history.is_cut, holds)):
        return None
    return min(chain.from_iterable(hold.flits for hold in holds), default=None)


def to_dict(history: History, links: Collection[int]) -> dict[str, Any]:
    """Convert a history to plain data for JSON. Only holds and waits on the links ``links`` are included.

    The flits of a hold are written as runs of consecutive cycles: first and last cycle of each run. All recorded chunks
    and readings are included.
    """
    def hold_to_dict(hold: RecordedHold) -> dict[str, Any]:
        return {"link": history.links[hold.link].name, "vc": hold.vc, "worm": hold.worm, "first": hold.first,
                "last": hold.last, "ended": hold.ended, "flits": [list(run) for run in hold.runs]}

    return {
        "topology": history.topology.name, "scheme": history.scheme, "hardware": history.configuration,
        "first": history.first, "end": history.end,
        "links": [{"name": link.name, "kind": link.kind, "from": link.source, "to": link.target, "vcs": link.vcs}
                  for index, link in enumerate(history.links) if index in links],
        "worms": summarise(history),
        "holds": [hold_to_dict(hold) for hold in history.holds if hold.link in links],
        "waits": [{"worm": wait.worm, "link": history.links[wait.link].name, "vc": wait.vc, "first": wait.first,
                   "last": wait.last, "resources": list(wait.resources)}
                  for wait in history.waits if wait.link in links],
        "deadlock": history.deadlock,
        "chunks": [asdict(chunk) for chunk in history.chunks],
        "readings": [asdict(reading) for reading in history.readings],
    }
