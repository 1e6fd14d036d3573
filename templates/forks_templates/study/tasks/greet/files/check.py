"""Judge greet.py; an object on standard output tells of the parts."""

import json
import sys

sys.dont_write_bytecode = True
CASES = {"Ada": "Hello, Ada!", "": "Hello!", "  ": "Hello!"}


def said(name):
    """What greet.py makes of a name, or what it fails at."""
    try:
        from greet import greet

        return greet(name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


checks = {repr(name): said(name) == expected for name, expected in CASES.items()}
score = sum(checks.values()) / len(checks)
print(json.dumps({"score": score, "checks": checks, "diagnostics": {n: said(n) for n in CASES}}))
sys.exit(0 if all(checks.values()) else 1)
