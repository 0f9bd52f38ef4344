"""README's example prints what README says it prints."""

import re
import subprocess
import sys

from app import ROOT


def test_the_ten_lines():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    said = re.search(r"prints `(.*?)`", readme)[1]
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == said
