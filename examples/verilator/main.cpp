// A network of 3x3 nodes in Verilator: a unicast and a multicast.
//
//   wormcast verilog network --topology mesh:3x3 --module network -o network.v
//   verilator --cc --exe --build --output-split 0 -CFLAGS -O0 --top-module network network.v main.cpp
//   ./obj_dir/Vnetwork
//
// A host sends a flit in each cycle in which it has a credit, and returns a credit for each flit that it receives.

#include <cstdint>
#include <cstdio>
#include <deque>
#include <initializer_list>

#include "Vnetwork.h"
#include "verilated.h"

constexpr int HEAD = 1, TAIL = 2;  // marks: bits 0 and 1 of a flit, below 32 bits of data

// The ports of one node, by name: for example node_2_1_host_in_0_valid.
struct Host {
    const char* name;
    CData &send_valid, &send_credit;
    QData& send_flit;
    CData &receive_valid, &receive_vc, &receive_credit;
    QData& receive_flit;
    CData &interface_fault, &router_fault;  // the first error on the wire
    int credits = 4;  // the network's buffer behind host_in_0 holds 4 flits
    std::deque<uint64_t> waiting{};

    void send(uint32_t data, int marks = 0) { waiting.push_back(uint64_t(data) << 2 | marks); }
};

#define PORT(row, column, port) top.node_##row##_##column##_host_##port
#define HOST(row, column)                                                                \
    Host{#row "." #column,                                                               \
         PORT(row, column, in_0_valid), PORT(row, column, in_0_credit),                  \
         PORT(row, column, in_0_flit),                                                   \
         PORT(row, column, out_0_valid), PORT(row, column, out_0_vc),                    \
         PORT(row, column, out_0_credit), PORT(row, column, out_0_flit),                 \
         top.node_##row##_##column##_interface_fault, top.node_##row##_##column##_router_fault}

// The header flit of a worm: up to 7 addresses of 4 bits in visiting order (2 bits of the row, 2 of the column). The
// fields that are left repeat the last address. Bit 31 marks the last header flit.
uint32_t header(std::initializer_list<uint32_t> addresses) {
    uint32_t data = 1u << 31, last = 0;
    auto next = addresses.begin();
    for (int field = 0; field < 7; field++) {
        if (next != addresses.end()) last = *next++;
        data |= last << 4 * field;
    }
    return data;
}

int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vnetwork top{&context};
    Host hosts[] = {HOST(0, 0), HOST(0, 1), HOST(0, 2), HOST(1, 0), HOST(1, 1),
                    HOST(1, 2), HOST(2, 0), HOST(2, 1), HOST(2, 2)};

    // a unicast from 0.0 to 2.1, and a multicast from 1.1 to 1.2 and 0.1
    Host &from_0_0 = hosts[0], &from_1_1 = hosts[4];
    from_0_0.send(header({0b1001}), HEAD);
    for (uint32_t data : {0xA0, 0xA1, 0xA2}) from_0_0.send(data, data == 0xA2 ? TAIL : 0);
    from_1_1.send(header({0b0110, 0b0001}), HEAD);
    for (uint32_t data : {0xB0, 0xB1, 0xB2, 0xB3}) from_1_1.send(data, data == 0xB3 ? TAIL : 0);

    int tails = 0;
    for (int cycle = -1; cycle < 100; cycle++) {
        top.rst = cycle < 0;  // reset for one cycle
        // the inputs of this cycle, from what the hosts saw in the cycles before
        for (Host& host : hosts) {
            host.send_valid = cycle >= 0 && host.credits > 0 && !host.waiting.empty();
            if (host.send_valid) {
                host.send_flit = host.waiting.front();
                host.waiting.pop_front();
                host.credits--;
            }
        }
        // the outputs of this cycle, before the rising edge at its end
        top.clk = 0;
        top.eval();
        for (Host& host : hosts) {
            host.credits += host.send_credit;
            host.receive_credit = host.receive_valid ? 1 << host.receive_vc : 0;  // credit in the flit's own cycle
            if (host.receive_valid) {
                bool tail = host.receive_flit & TAIL;
                tails += tail;
                std::printf("cycle %2d: %s receives %02x%s\n", cycle, host.name, uint32_t(host.receive_flit >> 2),
                            tail ? " (tail)" : "");
            }
        }
        top.clk = 1;
        top.eval();
    }
    top.final();
    for (Host& host : hosts)
        if (host.interface_fault || host.router_fault) {
            std::printf("%s has found an error: port fault in network.v.md\n", host.name);
            return 1;
        }
    return tails == 3 ? 0 : 1;  // three deliveries
}
