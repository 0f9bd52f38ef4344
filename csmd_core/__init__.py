"""Which tests should the next patient get? The core, without a user interface.

Read the modules in the order of the flow, each handing the next a plain value:

file → `readers`, `prices`, `intake`, `checks` → `study` (bundled ones: `bundled`) → `panels` →
`predictions` → `problem` → `dominance`, `windows`, `budget` → `policies`, `engine`, `simulation`,
`explain` → `experiment` (on a cluster: `cluster`), `growth`, `summary` → `figures`, `report`.
The paper's own instances: `paper`, `differences`, `reproduce`. Command line: `python -m csmd_core`.
"""
