"""Constants of the hosts' program: tasks, indices into options and counters, marks on links."""

__all__ = ["ADMISSION", "ADMITS", "ADMITTED", "ANSWER_PAYLOAD", "ASKS", "BUCKET", "CHANNELS", "CHANNEL_BITS",
           "CONTROL_FLITS", "COUNTED", "COUNTERS", "CREDITS", "END", "EVENT", "FAULT", "FAULT_CHANNEL",
           "FAULT_EXPECTED", "FAULT_FLIT", "FAULT_MARKS", "FAULT_NODE", "FAULT_RECEIVED", "FAULT_WORM", "FREED", "HEAD",
           "HELD", "IMAGE", "LOOK", "MARK_BITS", "MESSAGES", "NARROW", "NEXT", "NODES", "NONE", "NOW", "OF",
           "OUTSTANDING", "OWN_REFUSALS", "PACKET", "RATE", "RECEIPT", "REFUSALS", "RELEASES", "REQUESTS", "ROWS",
           "ROW_MASK", "SAMPLES", "SEPARATE", "SKIPPED", "SMART", "SPREAD", "TAG", "TAG_BITS", "TAIL", "T_HR", "T_NR",
           "UNDELIVERED", "UNDER_WAY", "VALID", "WAIT", "WAITED", "WIDTH"]

# a task is the number of a worm to post, or RECEIPT - d for the receipt of delivery d
NONE = -1
RECEIPT = -2

# Indices into Host.options.
# SPREAD: number of a packet's first flits that together hold its worm's tag and the packet's number.
# ROWS: number of messages that a smart interface may forward at a time; 0 for other interfaces.
# COUNTED: rows of child tables contain the number of packets; rows that control packets request always contain it.
# NODES: number of nodes of a lane.
# RATE, OF: a host moves at most RATE flits in OF cycles; there is no limit if RATE is 0.
# BUCKET: number of parts that a token bucket holds at most. A cycle adds RATE parts, and a flit uses up OF parts.
# SEPARATE: each direction of a host has the rate RATE / OF; otherwise both directions share this rate.
# MESSAGES: not 0 if rows of child tables are requested by control packets.
# OUTSTANDING: a node sends a request only while it has fewer outstanding requests; 0 if messages have no replies.
(WIDTH, CHANNEL_BITS, CHANNELS, PACKET, T_HR, T_NR, SPREAD, ROWS, COUNTED, RATE, OF, BUCKET, SEPARATE, NODES,
 OUTSTANDING, MESSAGES) = range(16)
# Indices into Host.counters. ADMITS: not 0 if a message may now find a free row in the child tables.
# FAULT: 0, or what was wrong with the first wrong flit that a host received. FAULT_NODE, FAULT_CHANNEL: node, and its
# consumption channel. FAULT_WORM: the worm whose flit was expected, or NONE. FAULT_FLIT: number of this payload flit.
# FAULT_EXPECTED, FAULT_RECEIVED: bits 0 to 63 of the data. FAULT_MARKS: the received marks from bit 0 on, and the
# expected marks from bit MARK_BITS on.
COUNTERS, MARK_BITS = 16, 3
(NOW, UNDELIVERED, NEXT, TAG, UNDER_WAY, HELD, FREED, ADMITS, FAULT, FAULT_NODE, FAULT_CHANNEL, FAULT_WORM, FAULT_FLIT,
 FAULT_EXPECTED, FAULT_RECEIVED, FAULT_MARKS) = range(COUNTERS)
# Names of, and indices into, the counters of a node in Host.admission: numbers of requests, of refusals by other
# interfaces and by the own one, of releases, and of messages that got all rows. WAITED: sum, over the messages that got
# all rows, of the cycles from the first request of a row to the last grant. CONTROL_FLITS: flits of control packets,
# with headers; the flits of an answer are counted when the answer arrives. ANSWER_PAYLOAD: payload flits of the answers
# that have arrived.
ADMISSION = ("requests", "refusals", "own_refusals", "releases", "admitted", "admission_wait", "control_flits",
             "answer_payload")
REQUESTS, REFUSALS, OWN_REFUSALS, RELEASES, ADMITTED, WAITED, CONTROL_FLITS, ANSWER_PAYLOAD = range(len(ADMISSION))
# Indices into Meter.counters. NARROW: cycles since counts in bytes were last added to the 64-bit counts.
# SAMPLES: cycles in which waiting worms were counted.
NARROW, SAMPLES = range(2)
# Indices into the state of `jump`, which skips cycles without events.
# END: the cycle in which the run ends. LOOK: the first cycle in which `jump` acts.
# IMAGE: the cycle in which `jump` stored a copy of the components' state, or NONE.
# CREDITS: sum of all hosts' credits in the cycle in which `jump` stored this copy.
# EVENT: the cycle of the hosts' next event. SKIPPED: number of cycles skipped so far.
# WAIT: number of cycles for which `jump` compares the components' state with its stored copy.
END, LOOK, WAIT, IMAGE, CREDITS, EVENT, SKIPPED = range(7)

# number of bits of a tag; the tags of worms under way are distinct
TAG_BITS = 16
# the bits of a forwarded message's tag that are the number of its row in child tables; see hw.interface.smart
ROW_MASK = 255

# Switch for the part of the program that is compiled only if a run has smart interfaces.
SMART = True
# Switch for the part that is compiled only if rows are requested by control packets.
ASKS = True

# bits of a link's marks, from the least significant: valid, virtual channel (only towards the host), head, tail
VALID, HEAD, TAIL = 1, 2, 4
