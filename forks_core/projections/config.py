"""The configuration of a run as ``init`` answers it."""

from typing import Any

from forks_core.registry import Registry
from forks_events.codec import unstructure


def config(registry: Registry) -> dict[str, Any] | None:
    """The default launch, its fingerprint, and the settings; None before init."""
    configured = registry.run and registry.run.configured
    if not configured:
        return None
    return {
        "launch": unstructure(registry.launches[configured.fingerprint]),
        "fingerprint": configured.fingerprint,
        "binary_resolved_by": configured.binary_resolved_by,
        "model_admission": configured.model_admission,
        **unstructure(configured.settings),
    }
