// A multistage network of 8 nodes whose switches copy worms: a unicast and a multicast at the same time.

#include "bench.h"

int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vwormcast_network top{&context};
    Host hosts[] = {HOST(0), HOST(1), HOST(2), HOST(3), HOST(4), HOST(5), HOST(6), HOST(7)};
    send(hosts[0], 0b00100000'0, 0xA0, 3, {&hosts[5]});  // a bit for each destination, from bit 1 on
    send(hosts[6], 0b10001010'0, 0xB0, 20, {&hosts[1], &hosts[3], &hosts[7]});
    return run(top, hosts, {
        &top.router_s0_fault, &top.router_s1_fault, &top.router_s2_fault, &top.router_s3_fault,
        &top.router_s4_fault, &top.router_s5_fault, &top.router_s6_fault, &top.router_s7_fault,
        &top.router_s8_fault, &top.router_s9_fault, &top.router_s10_fault, &top.router_s11_fault});
}
