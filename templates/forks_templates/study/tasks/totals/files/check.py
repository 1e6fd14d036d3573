"""Judge totals.py; an object on standard output tells of the parts."""

import json
import sys

sys.dont_write_bytecode = True
CASES = {
    "nothing": ([], {}),
    "once": ([("a", 1), ("b", 2)], {"a": 1, "b": 2}),
    "again": ([("a", 1), ("b", 2), ("a", 3)], {"a": 4, "b": 2}),
}


def is_right(pairs, expected):
    """Whether totals.py adds these up."""
    try:
        from totals import totals

        return totals(pairs) == expected
    except Exception:
        return False


checks = {name: is_right(*case) for name, case in CASES.items()}
print(json.dumps({"score": sum(checks.values()) / len(checks), "checks": checks}))
sys.exit(0 if all(checks.values()) else 1)
