"""Events of the run itself: opened, configured, watched over, mended."""

from datetime import datetime

from attrs import frozen

from forks_events.values import Launch, Settings


@frozen(kw_only=True)
class RunOpened:
    """The first event of every log.

    Args:
        at: When, by the clock of the one who wrote it.
        run: Id of the run, a UUID.
        format: Version of the log's format, 1.
        forks_version: The forks that opened it.
        lab: Whether this is a demonstration or a test: a lab run forwards nothing to an account.
    """

    at: datetime
    run: str
    format: int
    forks_version: str
    lab: bool


@frozen(kw_only=True)
class LaunchFixed:
    """A way to launch the client was fixed, and is known by its fingerprint from now on."""

    at: datetime
    fingerprint: str
    launch: Launch


@frozen(kw_only=True)
class RunConfigured:
    """The run has its default launch and its settings.

    Args:
        at: When.
        fingerprint: The default launch; a LaunchFixed with it came before.
        settings: Limits and thresholds.
        binary_resolved_by: How the client was found: ``--binary``, a variable's name, or ``PATH``.
        model_admission: Which settings entry admits the model, or that no list does.
    """

    at: datetime
    fingerprint: str
    settings: Settings
    binary_resolved_by: str
    model_admission: str


@frozen(kw_only=True)
class OrchestratorSeen:
    """The one who gives the orders called; said again only when the last time is old."""

    at: datetime


@frozen(kw_only=True)
class TailDropped:
    """A writer found bytes after the last whole commit, and removed them.

    Args:
        at: When.
        bytes: How many.
        sha256: Digest of what was removed.
    """

    at: datetime
    bytes: int
    sha256: str


RunEvent = RunOpened | LaunchFixed | RunConfigured | OrchestratorSeen | TailDropped
