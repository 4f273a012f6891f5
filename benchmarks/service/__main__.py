"""All of it, in full."""

import runpy

for part in ("latency", "fuzz", "schema", "hostile", "kills", "load", "vroom"):
    print(f"benchmarks.service.{part}", flush=True)
    runpy.run_module(f"benchmarks.service.{part}", run_name="__main__")
