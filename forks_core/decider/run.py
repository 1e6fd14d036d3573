"""Opening and configuring the run, and seeing its orchestrator."""

from datetime import datetime, timedelta

from attrs import frozen

from forks_core.errors import Refused
from forks_core.registry import Registry
from forks_core.rules.fingerprint import differences, fingerprint
from forks_core.rules.supervision import Timings
from forks_events import Event
from forks_events.codec import unstructure
from forks_events.run import LaunchFixed, OrchestratorSeen, RunConfigured, RunOpened
from forks_events.values import Launch, Settings

FORMAT = 1
NOT_INITIALISED = "no launch config for this run; call init first"


@frozen(kw_only=True)
class Init:
    """Open the run if it is new, and give it its launch and settings.

    Args:
        run: Id for the run if it is opened now.
        forks_version: The forks that asks.
        lab: Whether a run that is opened now is for demonstration or test.
        launch: The default launch.
        settings: Limits and thresholds.
        binary_resolved_by: How the client was found.
        model_admission: Why the model may be used.
    """

    run: str
    forks_version: str
    lab: bool
    launch: Launch
    settings: Settings
    binary_resolved_by: str
    model_admission: str


def init(command: Init, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say nothing when nothing differs; refuse a difference once a base exists."""
    changed = changed_fields(command, registry)
    if registry.run and registry.run.configured and not changed:
        return ()
    if registry.study is not None:
        raise Refused("this is a study's run; its file and its schedule configure it")
    if changed and registry.bases:
        raise Refused(
            "init values differ and a base exists; use another run log for another launch",
            fields=list(changed),
            bases=sorted(registry.bases),
        )
    opened = opening(now, command.run, command.forks_version, lab=command.lab)
    print_ = fingerprint(command.launch)
    configured = RunConfigured(
        at=now,
        fingerprint=print_,
        settings=command.settings,
        binary_resolved_by=command.binary_resolved_by,
        model_admission=command.model_admission,
    )
    fixed = LaunchFixed(at=now, fingerprint=print_, launch=command.launch)
    return (fixed, configured) if registry.run else (opened, fixed, configured)


def opening(now: datetime, run: str, forks_version: str, *, lab: bool) -> RunOpened:
    """Make the first event of a log, whatever it is a log of."""
    return RunOpened(at=now, run=run, format=FORMAT, forks_version=forks_version, lab=lab)


def changed_fields(command: Init, registry: Registry) -> tuple[str, ...]:
    """Name, by dotted paths, what differs from the config as it is stored; () before the first."""
    configured = registry.run and registry.run.configured
    if not configured:
        return ()
    stored = registry.launches[configured.fingerprint]
    return differences(
        {"launch": stored, **unstructure(configured.settings)},
        {"launch": command.launch, **unstructure(command.settings)},
    )


def configured_of(registry: Registry) -> RunConfigured:
    """How the run is configured.

    Raises:
        Refused: There was no init.
    """
    if registry.run is None or registry.run.configured is None:
        raise Refused(NOT_INITIALISED)
    return registry.run.configured


def settings_of(registry: Registry) -> Settings:
    """The run's settings.

    Raises:
        Refused: There was no init.
    """
    return configured_of(registry).settings


@frozen(kw_only=True)
class SeeOrchestrator:
    """The orchestrator called."""


def see_orchestrator(_: SeeOrchestrator, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Record it, unless that was done a moment ago."""
    return seen(registry, now)


def seen(registry: Registry, now: datetime) -> tuple[OrchestratorSeen, ...]:
    """Say that the orchestrator was seen, when the last time is older than 60 s.

    Or than a quarter of ``orphan_after``, so that saying it seldom never makes an orphan.
    """
    settings = settings_of(registry)
    last = registry.run.orchestrator_seen_at if registry.run else None
    rest = timedelta(seconds=min(Timings().orchestrator_seen_s, settings.orphan_after / 4))
    return () if last is not None and now - last <= rest else (OrchestratorSeen(at=now),)
