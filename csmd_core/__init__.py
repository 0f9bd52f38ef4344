"""Which tests should the next patient get? The core, without a user interface.

Read the modules in the order of the flow, each handing the next a plain value:

file → `readers`, `prices`, `intake`, `checks` → `study` (bundled ones: `bundled`) → `panels` →
`predictions` → `problem` → `dominance`, `windows`, `budget` → `policies`, `engine`, `simulation`,
`explain` → `figures`. The paper's own instances: `paper`. Command line: `python -m csmd_core`.
"""
