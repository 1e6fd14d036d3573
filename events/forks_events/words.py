"""The words that events use: kinds, statuses, reasons, flags, verdicts."""

from enum import Enum


class Kind(Enum):
    """What a job is for."""

    TRAIN = "train"
    FORK = "fork"
    CONTINUE = "continue"
    TRIAL = "trial"


class Mode(Enum):
    """Whether a fork works alone, or beside others and so without committing."""

    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"


class Status(Enum):
    """How a job ended."""

    OK = "ok"
    FAILED = "failed"
    TIMEOUT = "timeout"
    KILLED = "killed"
    LOST = "lost"


class Reason(Enum):
    """Why a job did not end ok."""

    MODEL_REFUSED = "model_refused"
    EXIT_CODE = "exit_code"
    NO_RESULT = "no_result"
    IS_ERROR = "is_error"
    KILL = "kill"
    EXPIRE = "expire"
    ORPHANED = "orphaned"
    SUPERVISOR_DEAD = "supervisor_dead"
    SUPERVISOR_ERROR = "supervisor_error"
    SPAWN_FAILED = "spawn_failed"
    LAUNCH_ERROR = "launch_error"


class Flag(Enum):
    """What is worth a look, whatever the status says."""

    STALLED = "stalled"
    ORPHANED = "orphaned"
    EXPIRED = "expired"
    USAGE_MISMATCH = "usage_mismatch"
    NEEDS_ATTENTION = "needs_attention"
    COLD_START = "cold_start"
    HELD = "held"
    SILENT = "silent"
    KILLED_AFTER_RESULT = "killed_after_result"
    RESULT_RECOVERED = "result_recovered"
    RESULT_TEXT_RECOVERED = "result_text_recovered"
    ERROR_AFTER_SUCCESS = "error_after_success"
    SESSION_MISMATCH = "session_mismatch"
    KILLED_WORK = "killed_work"
    LEFTOVERS_SWEPT = "leftovers_swept"


class ErrorKind(Enum):
    """What went wrong, in the client's terms."""

    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    BILLING = "billing"
    BUDGET = "budget"
    TURNS = "turns"
    MODEL = "model"
    SESSION_MISSING = "session_missing"
    STARTUP = "startup"
    CONTEXT = "context"
    REFUSAL = "refusal"
    SCHEMA = "schema"
    NETWORK = "network"
    NO_WORK = "no_work"
    OTHER = "other"


class Cache(Enum):
    """What a fork's first response read of its base's prefix."""

    HIT = "hit"
    PARTIAL = "partial"
    MISS = "miss"


class Warmth(Enum):
    """Whether a base's prefix is still in the cache."""

    WARM = "warm"
    EXPIRING = "expiring"
    COLD = "cold"


class UsageBasis(Enum):
    """How a call's own usage follows from its client's counters.

    FIRST: a fresh session. FRESH: the client counted this call alone. CARRIED: the client carried
    its parent's counters on, so the parent's are taken off.
    """

    FIRST = "first"
    FRESH = "fresh"
    CARRIED = "carried"
