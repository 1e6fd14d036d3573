"""A job or a base as a page: what it is, how it went, where its files are, and what it said."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.text import Text

from forks_cli.text import cells
from forks_cli.text.layout import INDENT, Part, Row, pairs
from forks_cli.text.pages import page

Pair = tuple[str, Text]


def show_page(content: Row, width: int) -> Iterable[Part]:
    """A job, or a base."""
    return _job_page(content, width) if "job" in content else _base_page(content, width)


def _job_page(content: Row, width: int) -> Iterator[Part]:
    job = content["job"]
    result: Row = content["result"] or {}
    kind = "training" if job["kind"] == "train" else job["kind"]
    base = Text.assemble(" of ", cells.name(job["base"])) if job["base"] else ""
    yield Text.assemble((job["job"], "bold"), f"  {kind}", base, "  ", cells.status(job))
    told = (*_what(job), *_how(job, result), *_when(job), *_spent(job, result), *_files(content))
    yield pairs([(name, value) for name, value in told if value.plain], width, INDENT)
    for heading, text in (("answer", content["text"]), ("standard error", content["stderr"])):
        if text and text.strip():
            yield ""
            yield Text(heading, style="bold")
            # As it was said: it may be code, and wants to be copied.
            yield text.strip("\n")


def _what(job: Row) -> Iterator[Pair]:
    yield "block", cells.name(job["block"])
    yield "phase", _known(job["phase"])
    yield "mode", _known(job["mode"])
    yield "paths", cells.name(" ".join(job["paths"] or ()))
    yield "continues", _known(job["continues"])


def _how(job: Row, result: Row) -> Iterator[Pair]:
    # The subtype of a result that is an error may still be called a success.
    yield "detail", cells.name("" if job["reason_detail"] == "success" else job["reason_detail"])
    yield "until", _time(result.get("resets_at"))
    yield "exit code", _known(result.get("exit_code") or None)
    yield "flags", cells.flags(job["flags"])
    yield "drift", Text("" if job["fingerprint"] in {None, "ok"} else _after(job["fingerprint"]))
    yield "denied", _counted(result)
    yield "cache", Text.assemble(cells.word(job["cache"] or ""), _warmth(job, result))
    yield "missed by", Text(", ".join(result.get("cache_causes") or ()))


def _when(job: Row) -> Iterator[Pair]:
    begun, ended = job["started_at"] or job["created_at"], job["ended_at"]
    took = cells.seconds(job.get("elapsed_s", job["wall_s"])).plain
    until = f" to {cells.moment(ended).plain}" if ended else ""
    yield "time", Text(f"{cells.moment(begun).plain}{until}, {took}")
    if job.get("last_event_s_ago") is not None:
        yield "last output", Text(f"{cells.seconds(job['last_event_s_ago']).plain} ago")
    yield "retries", cells.retry(job.get("retrying"))
    yield "delivered", _time(job["delivered_at"])


def _spent(job: Row, result: Row) -> Iterator[Pair]:
    yield "turns", cells.count(job["turns"])
    yield "tokens", cells.tokens(result.get("tokens") or {})
    if result:
        yield "cost", _cost(result)
        yield "model", Text(", ".join(result["models_used"]))
        if result["models_used"] != [result["model_requested"]]:
            yield "asked for", Text(result["model_requested"])


def _cost(result: Row) -> Text:
    if result["cost_source"] == "estimate":
        guess = cells.money(result["cost_estimate_usd"])
        return Text.assemble("at least ", guess, f" (estimate, prices of {result['prices_as_of']})")
    basis = f" ({result['usage_basis']})" if result["usage_basis"] else ""
    money = Text.assemble(cells.money(result["cost_delta_usd"]), basis)
    # Its client went on after the result that told this.
    more = "usage_mismatch" in result["flags"] and result["cost_delta_usd"] is not None
    return Text.assemble("at least ", money, ": more was seen than counted") if more else money


def _files(content: Row) -> Iterator[Pair]:
    job, result = content["job"], content["result"] or {}
    yield "session", Text(job["session"])
    yield "parent", _known(job["parent_session"])
    yield "note", _known(result.get("note"))
    yield "brief", Text(content["brief"])
    yield "output", _known(result.get("raw"))
    yield "log", Text(content["supervisor_log"])


def _base_page(content: Row, width: int) -> Iterator[Part]:
    base = content["base"]
    yield Text.assemble("base ", (base["name"], "bold"), "  ", cells.word(base["status"]))
    yield pairs([(name, value) for name, value in _base(base) if value.plain], width, INDENT)
    for name in ("launch", "runtime"):
        if content[name]:
            yield ""
            yield Text(name, style="bold")
            yield from page(_without_nulls(content[name]), width, INDENT)


def _base(base: Row) -> Iterator[Pair]:
    yield "cache", Text.assemble(cells.word(base["base_state"]), _until(base["warm_until"]))
    yield "trained", Text.assemble(_time(base["trained_at"]), f" by {base['train_job']}")
    yield "commit", _known(base["base_commit"])
    yield "phase", _known(base["phase"])
    yield "context", _tokens(base["context_tokens"])
    yield "cost", cells.money(base["training_cost_usd"])
    yield "forks", Text(", ".join(base["forks"]))
    yield "last hit", _time(base["last_hit"])
    yield "due", Text(", ".join(n for n in ("rebase", "retrain") if base[f"{n}_due"]))
    yield "session", Text(base["session"])
    yield "directory", cells.name(base["cwd"])


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {n: _without_nulls(item) for n, item in value.items() if item not in (None, [], "")}


def _known(value: Any) -> Text:
    return cells.name(None if value is None else str(value))


def _time(value: str | None) -> Text:
    return cells.moment(value) if value else Text("")


def _until(value: str | None) -> str:
    return f" until {cells.moment(value).plain}" if value else ""


def _tokens(value: int | None) -> Text:
    return Text("" if value is None else f"{value:,} tokens")


def _after(fingerprint: str) -> str:
    return fingerprint.partition(":")[2].replace(",", ", ")


def _warmth(job: Row, result: Row) -> str:
    state = result.get("base_state")
    return f"; the base was {state}" if job["cache"] and state else ""


def _counted(result: Row) -> Text:
    number = result.get("denials")
    tools = ", ".join(result.get("denied_tools") or ())
    return Text(f"{tools} ({number})" if number else "")
