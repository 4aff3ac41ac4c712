"""What the hosts' program calls its numbers: tasks, places in its options and counters, marks on links."""

__all__ = ["ADMITS", "CHANNELS", "CHANNEL_BITS", "COUNTED", "CREDITS", "END", "EVENT", "FAULT", "FAULT_CHANNEL",
           "FAULT_NODE", "FREED", "HEAD", "HELD", "IMAGE", "LOOK", "METERED", "NARROW", "NEXT", "NODES", "NONE", "NOW",
           "OF", "PACKET", "RATE", "RECEIPT", "ROWS", "ROW_MASK", "SAMPLES", "SEPARATE", "SKIPPED", "SMART", "SPREAD",
           "SPREADING", "STALLED", "SWITCHES", "TAG", "TAG_BITS", "TAIL", "THROTTLED", "T_HR", "T_NR", "UNDELIVERED",
           "UNDER_WAY", "VALID", "WAIT", "WIDTH"]

# a task is the number of a worm to post, the receipt of delivery d is RECEIPT - d
NONE = -1
RECEIPT = -2

# places in Host.options: SPREAD, flits over which a packet spreads its number; ROWS, messages that a smart interface
# may forward, 0 for none; COUNTED, its rows say how many packets there are; RATE, OF, SEPARATE: flits that a node's
# host moves in so many cycles, 0 for any, and whether that is each way; NODES, of a lane
WIDTH, CHANNEL_BITS, CHANNELS, PACKET, T_HR, T_NR, SPREAD, ROWS, COUNTED, RATE, OF, SEPARATE, NODES = range(13)
# places in Host.counters; ADMITS: whether rows have become free
NOW, UNDELIVERED, NEXT, TAG, UNDER_WAY, HELD, FAULT, FAULT_NODE, FAULT_CHANNEL, FREED, ADMITS = range(11)
# places in Meter.counters: cycles counted in bytes so far, cycles in which waiting worms were counted
NARROW, SAMPLES = range(2)
# places in the state of `jump`: END, the cycle at which the run ends; LOOK, the cycle before which it does nothing;
# IMAGE, the cycle of the image of memory, or NONE; CREDITS, of all hosts then; EVENT, the hosts' next one; WAIT, cycles
# for which memory is compared with the image; SKIPPED, cycles so far
END, LOOK, WAIT, IMAGE, CREDITS, EVENT, SKIPPED = range(7)

# bits of the numbers that tell worms under way apart
TAG_BITS = 16
# a message's number says its row in these bits; see hw.interface.smart
ROW_MASK = 255

# parts of the program that are compiled where they are used: smart interfaces, stalls of consumption channels, hosts
# that move a limited number of flits, flits too narrow for a whole tag, counts of what is on the links
SMART = STALLED = THROTTLED = SPREADING = METERED = True
SWITCHES = "SMART", "STALLED", "THROTTLED", "SPREADING", "METERED"

# marks on a link, least significant bit first: valid, virtual channel (no bits towards the network), head, tail
VALID, HEAD, TAIL = 1, 2, 4
