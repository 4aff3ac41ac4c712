"""Constants of the hosts' program: tasks, places in its options and counters, marks on links."""

__all__ = ["ADMITS", "CHANNELS", "CHANNEL_BITS", "COUNTED", "CREDITS", "END", "EVENT", "FAULT", "FAULT_CHANNEL",
           "FAULT_NODE", "FREED", "HEAD", "HELD", "IMAGE", "LOOK", "METERED", "NARROW", "NEXT", "NODES", "NONE", "NOW",
           "OF", "PACKET", "RATE", "RECEIPT", "ROWS", "ROW_MASK", "SAMPLES", "SEPARATE", "SKIPPED", "SMART", "SPREAD",
           "SPREADING", "STALLED", "SWITCHES", "TAG", "TAG_BITS", "TAIL", "THROTTLED", "T_HR", "T_NR", "UNDELIVERED",
           "UNDER_WAY", "VALID", "WAIT", "WIDTH"]

# a task is the number of a worm to post, or RECEIPT - d for the receipt of delivery d
NONE = -1
RECEIPT = -2

# places in Host.options. SPREAD: flits of a packet that together hold its worm's tag and its number. ROWS: messages
# that a smart interface may forward, 0 for other interfaces. COUNTED: rows contain the number of packets. RATE, OF: a
# node's host moves RATE flits in OF cycles, 0 for no limit. SEPARATE: each direction has that rate. NODES: of a lane
WIDTH, CHANNEL_BITS, CHANNELS, PACKET, T_HR, T_NR, SPREAD, ROWS, COUNTED, RATE, OF, SEPARATE, NODES = range(13)
# places in Host.counters. ADMITS: rows have become free
NOW, UNDELIVERED, NEXT, TAG, UNDER_WAY, HELD, FAULT, FAULT_NODE, FAULT_CHANNEL, FREED, ADMITS = range(11)
# places in Meter.counters: cycles counted in bytes so far, cycles in which waiting worms were counted
NARROW, SAMPLES = range(2)
# places in the state of `jump`. END: the cycle at which the run ends. LOOK: the first cycle in which it acts. IMAGE:
# the cycle of the memory image, or NONE. CREDITS: sum of all hosts' credits then. EVENT: the hosts' next event. WAIT:
# cycles for which memory is compared with the image. SKIPPED: cycles so far
END, LOOK, WAIT, IMAGE, CREDITS, EVENT, SKIPPED = range(7)

# bits of a tag, the number that tells worms under way apart
TAG_BITS = 16
# bits of a message's number that hold its row; see hw.interface.smart
ROW_MASK = 255

# parts of the program that are compiled only if used: smart interfaces, stalls of consumption channels, hosts with a
# limited flit rate, flits too narrow for a whole tag, counts of flits on links
SMART = STALLED = THROTTLED = SPREADING = METERED = True
SWITCHES = "SMART", "STALLED", "THROTTLED", "SPREADING", "METERED"

# marks on a link, least significant bit first: valid, virtual channel (no bits towards the network), head, tail
VALID, HEAD, TAIL = 1, 2, 4
