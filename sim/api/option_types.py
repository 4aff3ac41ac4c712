"""Types of the options that functions of `wormcast` accept by keyword.

Options have the names, types and meanings that they have on the command line: ``wormcast COMMAND --help``, or the page
*Commands* of the site that ``make docs`` writes. A test compares these classes with `Configuration` and `Traffic`,
which declare the options.
"""

import os
from collections.abc import Mapping
from typing import TypedDict

from wormcast.algorithms import Relation, Scheme, Topology

__all__ = ["DestinationOptions", "ExportOptions", "HardwareOptions", "PathLike", "PictureWords", "RelationLike",
           "SchemeLike", "TopologyLike", "TrafficOptions"]

# a name as on the command line, or the object itself
TopologyLike = str | Topology
SchemeLike = str | Scheme
RelationLike = str | Relation

PathLike = str | os.PathLike[str]


class PictureWords(TypedDict, total=False):
    """Options of pictures by name; see `PictureOptions`."""

    style: str
    width: str | float | None
    panel: str | None
    label: Mapping[str, str] | None


class HardwareOptions(TypedDict, total=False):
    """Hardware options by name; see `Configuration`."""

    configuration: str
    vcs: int
    buffer: int
    buffer_kind: str
    chunk: int
    readers: str
    consumption: int
    flit_width: int
    header: str
    delays: str
    storage: str
    ports: str
    ejection: str
    consumption_links: str
    ejected_header: str
    packet: int
    queue: int
    receive_queue: int | str
    send_queue: int | str
    ni_processors: str
    ni_order: str
    t_hs: int
    t_hr: int
    t_ns: int
    t_nr: int
    dma: str | None
    dma_buckets: str
    dma_engine: str
    ratio: str | None
    absorb: str
    slot: int
    ni: str
    rows: int
    places: int
    row: int
    admission: str
    injection_delay: int
    multicast_delay: int
    copy_delay: int
    copying: str
    vc_classes: str
    tokens: str | None
    strings: str
    ties: str
    classes: str | None


class ExportOptions(HardwareOptions, total=False):
    """Hardware options and options of the port to the host by name; see `HostPort`."""

    host: str
    sets: str | None
    set_count: int
    set_flits: int
    message_flits: int


class DestinationOptions(TypedDict, total=False):
    """Options of the number of destinations of random multicasts by name; see `Traffic`."""

    destinations_mean: float
    destinations_distribution: str
    destinations_deviation: float
    destinations_counts: str | None


class TrafficOptions(DestinationOptions, total=False):
    """Options of random traffic by name, without the rate; see `Traffic`."""

    length: int
    unicast_length: int
    multicast_fraction: float
    pattern: str
    hot_spots: str | None
    hot_spot_share: float
    multicast_sets: str
    cluster_size: int
    injection_process: str
    burst_on: float
    burst_off: float
    reply: int
    outstanding: int
