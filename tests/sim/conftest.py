def pytest_configure(config):
    # a kernel that is found on disk needs its component's ports, and never elaborates it
    config.addinivalue_line("filterwarnings", "ignore::amaranth.hdl.UnusedElaboratable")
