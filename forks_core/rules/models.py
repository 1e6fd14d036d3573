"""Whether two ids name the same model.

The client drops the suffix ``[1m]`` where a context of a million tokens is a model's default, and
some versions and providers add the date of the snapshot; neither makes it another model.
"""

import re

_SNAPSHOT = re.compile(r"[-@]\d{8}$")


def identity(model: str) -> str:
    """Give what an id names: without the context's suffix, and without the snapshot's date."""
    return _SNAPSHOT.sub("", model.removesuffix("[1m]"))


def is_same_model(one: str, other: str) -> bool:
    """Tell whether two ids name the same model; two dates are two models."""
    dated = [_SNAPSHOT.search(model.removesuffix("[1m]")) for model in (one, other)]
    if all(dated) and dated[0] and dated[1] and dated[0][0][1:] != dated[1][0][1:]:
        return False
    return identity(one) == identity(other)
