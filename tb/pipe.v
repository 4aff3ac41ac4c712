// The smallest design with links: each flit and each credit one cycle later.
module pipe #(
    parameter VCS = 2,
    parameter WIDTH = 16
) (
    input wire clk,
    input wire rst,
    input wire in_valid,
    input wire [$clog2(VCS) - 1:0] in_vc,
    input wire [WIDTH + 1:0] in_flit,
    output reg [VCS - 1:0] in_credit,
    output reg out_valid,
    output reg [$clog2(VCS) - 1:0] out_vc,
    output reg [WIDTH + 1:0] out_flit,
    input wire [VCS - 1:0] out_credit
);
    always @(posedge clk) begin
        out_valid <= in_valid & ~rst;
        out_vc <= in_vc;
        out_flit <= in_flit;
        in_credit <= rst ? 0 : out_credit;
    end
endmodule
