"""Hardware that leaves the package: Verilog, and what it costs on FPGAs."""
