"""Judge report.txt; an object on standard output tells of the parts."""

import json
import os
import pathlib
import sys

report = pathlib.Path("report.txt")
lines = report.read_text().split("\n") if report.is_file() else []
letters = sum(letter.isalpha() for letter in pathlib.Path("words.txt").read_text())
checks = {
    "seed": lines[:1] == [os.environ["FORKS_SEED"]],
    "letters": lines[1:2] == [str(letters)],
    "two lines": len([line for line in lines if line]) == 2,
}
print(json.dumps({"score": sum(checks.values()) / len(checks), "checks": checks}))
sys.exit(0 if all(checks.values()) else 1)
