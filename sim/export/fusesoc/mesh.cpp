// A mesh of 3x3 nodes: a unicast and a multicast at the same time.

#include "bench.h"

int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vwormcast_network top{&context};
    Host hosts[] = {VC_HOST(0_0), VC_HOST(0_1), VC_HOST(0_2), VC_HOST(1_0), VC_HOST(1_1),
                    VC_HOST(1_2), VC_HOST(2_0), VC_HOST(2_1), VC_HOST(2_2)};
    send(hosts[0], 0x89999999, 0xA0, 3, {&hosts[7]});              // node 2.1 in all seven addresses
    send(hosts[4], 0x81111116, 0xB0, 20, {&hosts[5], &hosts[1]});  // node 1.2, then 0.1
    return run(top, hosts, {
        &top.node_0_0_router_fault, &top.node_0_1_router_fault, &top.node_0_2_router_fault,
        &top.node_1_0_router_fault, &top.node_1_1_router_fault, &top.node_1_2_router_fault,
        &top.node_2_0_router_fault, &top.node_2_1_router_fault, &top.node_2_2_router_fault});
}
