"""A run's limits where nobody says otherwise."""

from forks_core.rules.naming import ACCOUNT
from forks_events.values import Settings, Thresholds

DEFAULTS = Settings(
    parallel_cap=2,
    orphan_after=1200,
    pings=True,
    ttl_s=3600,
    max_minutes=90.0,
    stall_after_s=900,
    no_output_s=120,
    stagger_s=20,
    thresholds=Thresholds(
        rebase_commits=6,
        rebase_lines=1500,
        rebase_delta_tokens=12_000,
        max_base_tokens=250_000,
        max_rebases=4,
    ),
    account=ACCOUNT,
)
