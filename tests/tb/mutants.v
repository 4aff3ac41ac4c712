// A pipe of three virtual channels that does one thing wrong, once, behind its twentieth flit: which, ``mutant`` says.
module mutants (
    input wire clk,
    input wire rst,
    input wire [3:0] mutant,
    input wire in_valid,
    input wire [1:0] in_vc,
    input wire [17:0] in_flit,
    output reg [2:0] in_credit,
    output reg out_valid,
    output reg [1:0] out_vc,
    output reg [17:0] out_flit,
    input wire [2:0] out_credit
);
    reg [7:0] count;
    reg done;
    wire head = in_flit[0], tail = in_flit[1], due = count > 20 && !done;
    wire inner = due && in_valid && !head && !tail;

    always @(posedge clk) begin
        out_valid <= in_valid & ~rst;
        out_vc <= in_vc;
        out_flit <= in_flit;
        in_credit <= rst ? 0 : out_credit;
        count <= rst ? 0 : count + in_valid;
        if (rst) done <= 0;
        else case (mutant)
            1: if (inner) begin out_valid <= 0; done <= 1; end                              // a flit is dropped
            2: if (due && !in_valid) begin out_valid <= 1; done <= 1; end                   // a flit comes twice
            3: if (inner) begin out_flit[7] <= ~in_flit[7]; done <= 1; end                  // a bit is turned
            4: if (inner && in_vc == 1) begin out_vc <= 0; done <= 1; end                   // a flit changes channel
            5: if (due && in_valid && head) begin out_flit[0] <= 0; done <= 1; end          // a head mark is lost
            6: if (due && in_valid && tail) begin out_flit[1] <= 0; done <= 1; end          // a tail mark is lost
            7: if (due && out_credit[1]) begin in_credit[1] <= 0; done <= 1; end            // a credit is lost
            8: if (due && !out_credit[1]) begin in_credit[1] <= 1; done <= count > 60; end  // credits come twice
            9: if (inner) begin out_vc <= 3; done <= 1; end                                 // a channel that is not there
            10: if (inner) begin out_flit[1:0] <= 3; done <= 1; end                         // a worm is cut off
            11: if (count > 40) out_valid <= 0;                                             // nothing comes any more
            12:                                                                             // a flit comes for ever
                if (done) begin out_valid <= 1; out_vc <= out_vc; out_flit <= out_flit; in_credit <= 0; end
                else done <= inner;
            default: ;
        endcase
    end
endmodule
