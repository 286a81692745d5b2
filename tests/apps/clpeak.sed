# rates and latencies differ from run to run
s/: *[0-9]+(\.[0-9]+)?( us| GBPS)?$/: N\2/
