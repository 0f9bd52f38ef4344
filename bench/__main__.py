"""Run every benchmark in turn: `make bench`."""

import importlib
import pkgutil

import bench

for part in sorted(module.name for module in pkgutil.iter_modules(bench.__path__)):
    if part != "__main__":
        print(f"\n== {part}")
        importlib.import_module(f"bench.{part}").main()
