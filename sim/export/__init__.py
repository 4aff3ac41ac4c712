"""Export of hardware: Verilog, and its cost on FPGAs."""
