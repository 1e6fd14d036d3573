"""The texts of an attempt, out of the raw file and the check's output."""

from forks_core.claude.text import answer_text, error_text, tool_calls
from forks_core.projections.rows import MESSAGE_LENGTH, Texts
from forks_core.system.checker import spoken
from forks_core.system.raw import stderr_tail
from forks_core.system.state_folder import StateFolder


def attempt_texts(folder: StateFolder, trial_id: str, attempt: int, job: str) -> Texts:
    """Read what the log does not hold; what is gone is None."""
    raw = folder.raw(job)
    data = raw.read_bytes() if raw.exists() else None
    answer = answer_text(data) if data is not None else None
    error = error_text(data) if data is not None else None
    complaint = stderr_tail(folder, job).strip()
    output = folder.kept(trial_id, attempt, "check.out")
    errors = folder.kept(trial_id, attempt, "check.err")
    complained = errors.read_text("utf-8", "replace").strip() if errors.exists() else ""
    said = spoken(output.read_bytes()) if output.exists() else {}
    return Texts(
        final_text=answer,
        error=error,
        message=error or complaint or answer,
        check_message=complained[-MESSAGE_LENGTH:] or None,
        diagnostics=said.get("diagnostics"),
        tool_calls=None if data is None else tool_calls(data),
    )
