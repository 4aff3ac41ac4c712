"""Waveforms of worms, written by hand: independent of what the product writes.

A hold is ``(link, vc, worm, "FFF..F")``: its cycles as text, from the cycle given, ``F`` with a flit on the link; one
whose text ends in ``T`` ends with the tail in that cycle.
"""

import json
import re

__all__ = ["FIGURE_4", "comment", "links_of", "vcd"]

PERIOD = 1_000_000
NONE = "bx"


def links_of(nodes, vcs=1, consumption=1):
    """All links of a chain of nodes, a mesh of one row."""
    def link(name, kind, source, target, channels):
        scope = "bench.top.worms." + re.sub("[:#]", "_", name).replace(">", "_to_")
        return {"name": name, "kind": kind, "from": source, "to": target, "vcs": channels, "scope": scope}

    found = [link(f"link:{u}>{v}", "network", u, v, vcs) for u in range(nodes) for v in (u - 1, u + 1)
             if 0 <= v < nodes]
    found += [link(f"inj:{node}:0", "injection", node, node, vcs) for node in range(nodes)]
    return found + [link(f"cons:{node}#0", "consumption", node, node, consumption) for node in range(nodes)]


def comment(links, worms, end, *, first=0, deadlock=None, **other):
    """The JSON object of the first comment."""
    return {"version": "0", "topology": "mesh:1x4", "scheme": "dual-path", "relation": "hamiltonian",
            "configuration": {"vcs": 1, "buffer": 4, "consumption": 1}, "lane": 0, "first": first, "end": end,
            "period_fs": PERIOD, "links": links, "worms": worms, "deadlock": deadlock, **other}


def worm(number, source, destinations, length=8):
    return {"worm": number, "message": number, "source": source, "destinations": destinations, "length": length}


def vcd(said, holds, waits=()):
    """The text of the file.

    Parameters
    ----------
    holds : sequence of (link, vc, worm, first, text)
    waits : sequence of (link, vc, worm, first, last, resources)
    """
    lines = [f"$comment wormcast {json.dumps(said)} $end", "$timescale 1 fs $end", "$scope module bench $end",
             "$scope module top $end", "$var wire 1 ! clk $end", "$scope module worms $end"]
    names = {}

    def declare(key, kind, size, name):
        names[key] = f"n{len(names)}"
        lines.append(f"$var {kind} {size} {names[key]} {name} $end")

    for link in said["links"]:
        lines.append(f"$scope module {link['scope'].rpartition('.')[2]} $end")
        for signal in ("flit", "head", "tail"):
            declare((link["name"], signal), "wire", 1, signal)
        if link["vcs"] > 1:
            declare((link["name"], "vc"), "wire", 2, "vc")
        for vc in range(link["vcs"]):
            lines.append(f"$scope module vc_{vc} $end")
            declare((link["name"], vc, "worm"), "integer", 32, "worm")
            declare((link["name"], vc, "front"), "integer", 32, "front")
            declare((link["name"], vc, "waits"), "string", 1, "waits")
            lines.append("$upscope $end")
        lines.append("$upscope $end")
    lines += ["$upscope $end", "$upscope $end", "$upscope $end", "$enddefinitions $end"]

    before = {}
    for cycle in range(said["first"], said["end"]):
        now = {key: "s" if key[-1] == "waits" else NONE if key[-1] in ("worm", "front") else "b0" if key[-1] == "vc"
               else "0" for key in names}
        for link, vc, number, first, text in holds:
            if first <= cycle < first + len(text):
                mark = text[cycle - first]
                now[link, vc, "worm"] = f"b{number:b}"
                if mark in "FT":
                    now[link, "flit"], now[link, "tail"] = "1", str(int(mark == "T"))
                    now[link, "head"] = str(int(cycle == first))
                    if (link, "vc") in now:
                        now[link, "vc"] = f"b{vc:b}"
        for link, vc, number, first, last, resources in waits:
            if first <= cycle <= last:
                now[link, vc, "front"] = f"b{number:b}"
                now[link, vc, "waits"] = "s" + "|".join(resources)
        lines.append(f"#{max(0, cycle * PERIOD - PERIOD // 2)}")
        if cycle == said["first"]:
            lines.append("$dumpvars")
        for key, value in now.items():
            if before.get(key) != value:
                lines.append(f"{value}{' ' if value[0] in 'bs' else ''}{names[key]}")
        if cycle == said["first"]:
            lines.append("$end")
        lines += ["1!", f"#{cycle * PERIOD}", "0!"]
        before = now
    return "\n".join([*lines, f"#{said['end'] * PERIOD - PERIOD // 2}", ""])


# [Boppana98]'s figure 4, shortened: each worm has one consumption channel and asks for the other's
FIGURE_4 = (
    comment(links_of(4), [worm(0, 0, [1, 2]), worm(1, 3, [2, 1])], 30, deadlock={"at": 29, "cycle": [
        {"worm": 0, "holds": ["link:0>1:0", "cons:1:0", "link:1>2:0"], "waits": ["cons:2:0"]},
        {"worm": 1, "holds": ["link:3>2:0", "cons:2:0", "link:2>1:0"], "waits": ["cons:1:0"]}]}),
    [
        ("inj:0:0", 0, 0, 2, "FFFFFFFF" + "." * 20), ("link:0>1", 0, 0, 5, "FFFFFF" + "." * 19),
        ("cons:1#0", 0, 0, 10, "FFF" + "." * 17), ("link:1>2", 0, 0, 10, "FFFF" + "." * 16),
        ("inj:3:0", 0, 1, 4, "FFFFFFFF" + "." * 18), ("link:3>2", 0, 1, 7, "FFFFFF" + "." * 17),
        ("cons:2#0", 0, 1, 12, "FFF" + "." * 15), ("link:2>1", 0, 1, 12, "FFFF" + "." * 14),
    ],
    [("link:1>2", 0, 0, 13, 29, ["cons:2:0"]), ("link:2>1", 0, 1, 15, 29, ["cons:1:0"])],
)
