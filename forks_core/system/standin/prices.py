"""What tokens cost: list prices in USD per million tokens, by the beginning of a model's name."""

from typing import Any, NamedTuple

_PER_TOKEN = 1e-6
_WRITE_5M, _WRITE_1H, _READ = 1.25, 2.0, 0.1
_LIST = {
    "claude-fable-5": (10.0, 50.0),
    "claude-mythos-5": (10.0, 50.0),
    "claude-opus": (5.0, 25.0),
    "claude-sonnet-5": (2.0, 10.0),
    "claude-sonnet-4": (3.0, 15.0),
    "claude-haiku": (1.0, 5.0),
}
_UNKNOWN = (5.0, 25.0)
_SHORT_CONTEXT = ("claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku")


class Usage(NamedTuple):
    """Tokens of one request or of several: prompt side split by cache, and output."""

    input: int = 0
    output: int = 0
    read: int = 0
    write_5m: int = 0
    write_1h: int = 0

    @property
    def written(self) -> int:
        """Tokens written to the cache, with either lifetime."""
        return self.write_5m + self.write_1h

    def plus(self, other: "Usage") -> "Usage":
        """Return the field-by-field sum of two usages."""
        return Usage(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def cost(model: str, usage: Usage) -> float:
    """Return the list price in USD of a usage; an unknown model costs what opus costs."""
    per_input, per_output = next(
        (prices for name, prices in _LIST.items() if model.startswith(name)), _UNKNOWN
    )
    weighed = usage.input + _READ * usage.read
    weighed += _WRITE_5M * usage.write_5m + _WRITE_1H * usage.write_1h
    return (per_input * weighed + per_output * usage.output) * _PER_TOKEN


def model_entry(model: str, usage: Usage, cost_usd: float, *, modern: bool) -> dict[str, Any]:
    """Return one entry of a result's `modelUsage`, with the newer fields if modern."""
    short = model.startswith(_SHORT_CONTEXT) and "[1m]" not in model
    entry: dict[str, Any] = {
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "cacheReadInputTokens": usage.read,
        "cacheCreationInputTokens": usage.written,
        "webSearchRequests": 0,
        "costUSD": cost_usd,
        "contextWindow": 200_000 if short else 1_000_000,
    }
    if modern:
        entry |= {
            "maxOutputTokens": 32_000 if short else 128_000,
            "thinkingTokens": 0,
            "cacheCreationEphemeral5mInputTokens": usage.write_5m,
            "cacheCreationEphemeral1hInputTokens": usage.write_1h,
            "canonicalModel": model.removesuffix("[1m]"),
            "provider": "firstParty",
            "costBasis": "list" if model.startswith(tuple(_LIST)) else "unknown",
        }
    return entry
