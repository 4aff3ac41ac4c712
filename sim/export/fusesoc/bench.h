// Bench of network.core: hosts that send worms, and compare what they receive with what they must receive.

#include <cstdint>
#include <cstdio>
#include <deque>
#include <vector>

#include "Vwormcast_network.h"
#include "verilated.h"

constexpr int HEAD = 1, TAIL = 2;  // marks: bits 0 and 1 of a flit, below 32 bits of data

struct Host {
    const char* name;
    CData &send_valid, &send_credit, &receive_valid, &receive_credit;
    QData &send_flit, &receive_flit;
    const CData& fault;       // the first error on the wire that the interface has detected
    const CData* receive_vc;  // nullptr: there is one consumption channel
    int credits = 4;          // the network's buffer for a host holds 4 flits
    std::deque<QData> waiting{};
    std::vector<QData> received{}, expected{};
};

// The host of a node, with one consumption channel, and with several.
#define PORT(node, port) top.node_##node##_host_##port
#define HOST_WITH(node, vc)                                                              \
    Host{#node,                                                                          \
         PORT(node, in_0_valid), PORT(node, in_0_credit),                                \
         PORT(node, out_0_valid), PORT(node, out_0_credit),                              \
         PORT(node, in_0_flit), PORT(node, out_0_flit),                                  \
         top.node_##node##_interface_fault, vc}
#define HOST(node) HOST_WITH(node, nullptr)
#define VC_HOST(node) HOST_WITH(node, &PORT(node, out_0_vc))

// Send a worm with one header flit and payload that counts up from `first`.
void send(Host& source, QData header, int first, int length, std::vector<Host*> destinations) {
    source.waiting.push_back(header << 2 | HEAD);
    for (int k = 0; k < length; k++) {
        QData flit = QData(first + k) << 2 | (k == length - 1 ? TAIL : 0);
        source.waiting.push_back(flit);
        for (Host* host : destinations) host->expected.push_back(flit);
    }
}

// Reset the network, run it for 200 cycles, and return 0 if each host has received exactly what was sent to it, and
// neither an interface nor a router has detected an error. `faults` are those of the routers.
template <class Hosts>
int run(Vwormcast_network& top, Hosts& hosts, std::vector<const CData*> faults) {
    for (int cycle = -1; cycle < 200; cycle++) {
        top.rst = cycle < 0;
        for (Host& host : hosts) {
            host.send_valid = cycle >= 0 && host.credits > 0 && !host.waiting.empty();
            if (host.send_valid) {
                host.send_flit = host.waiting.front();
                host.waiting.pop_front();
                host.credits--;
            }
        }
        top.clk = 0;
        top.eval();
        for (Host& host : hosts) {
            host.credits += host.send_credit;
            host.receive_credit = host.receive_valid << (host.receive_vc ? *host.receive_vc : 0);
            if (host.receive_valid) host.received.push_back(host.receive_flit);
        }
        top.clk = 1;
        top.eval();
    }
    top.final();
    int wrong = 0;
    for (Host& host : hosts) {
        if (host.received != host.expected || !host.waiting.empty()) {
            std::printf("node %s: received %zu of %zu flits\n", host.name, host.received.size(), host.expected.size());
            wrong++;
        }
        faults.push_back(&host.fault);
    }
    for (const CData* fault : faults) {
        if (*fault) std::printf("fault %#x\n", *fault);
        wrong += *fault != 0;
    }
    std::printf(wrong ? "FAILED\n" : "PASSED: every flit arrived once, in order\n");
    return wrong ? 1 : 0;
}
