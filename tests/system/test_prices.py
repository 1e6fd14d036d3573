"""The price table: ours, or the one that FORKS_PRICES names."""

from pathlib import Path

import pytest

from forks_core.errors import Refused
from forks_core.rules.prices import Price
from forks_core.system.prices import PRICES, prices, prices_at_hand

GOOD = "{ input = 1.0, output = 2, cache_write_5m = 3.0, cache_write_1h = 4.0, cache_read = 0 }"
# The public prices of 2026-08, USD for a million tokens: input, 5m write, 1h write, read, output.
PUBLIC = {
    ("fable-5", "mythos-5"): (10, 12.5, 20, 1, 50),
    ("opus-5", "opus-4-8", "opus-4-7", "opus-4-6", "opus-4-5"): (5, 6.25, 10, 0.5, 25),
    ("sonnet-5",): (2, 2.5, 4, 0.2, 10),
    ("sonnet-4-6", "sonnet-4-5"): (3, 3.75, 6, 0.3, 15),
    ("haiku-4-5",): (1, 1.25, 2, 0.1, 5),
}


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that FORKS_PRICES names; it is not there yet."""
    path = tmp_path / "prices.toml"
    monkeypatch.setenv(PRICES, str(path))
    return path


class TestOurs:
    """The table that comes with forks holds the public prices, and only those."""

    @pytest.mark.parametrize("told", [None, ""])
    def test_table(self, monkeypatch: pytest.MonkeyPatch, told: str | None) -> None:
        """Every model that they name is in it at its price, and it says when they were so."""
        monkeypatch.delenv(PRICES, raising=False)
        if told is not None:
            monkeypatch.setenv(PRICES, told)
        expected = {
            f"claude-{model}": Price(
                input=plain,
                output=output,
                cache_write_5m=short,
                cache_write_1h=long,
                cache_read=read,
            )
            for models, (plain, short, long, read, output) in PUBLIC.items()
            for model in models
        }
        assert dict(prices().models) == expected
        assert prices().as_of.startswith("2026-08")

    def test_the_public_ratios(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A write costs 1.25 or 2 times the input, a read a tenth of it."""
        monkeypatch.delenv(PRICES, raising=False)
        for price in prices().models.values():
            told = (price.cache_write_5m, price.cache_write_1h, price.cache_read)
            assert told == pytest.approx((price.input * 1.25, price.input * 2, price.input / 10))


class TestTheirs:
    """Another table takes its place whole, and one that is none is refused by its path."""

    def test_table(self, names: Path) -> None:
        """Only what it says holds; a whole number is a number."""
        names.write_text(f'as_of = "2027-01-01"\n[models]\nmine = {GOOD}\n')
        table = prices()
        assert table.as_of == "2027-01-01"
        assert dict(table.models) == {
            "mine": Price(
                input=1.0, output=2.0, cache_write_5m=3.0, cache_write_1h=4.0, cache_read=0.0
            )
        }

    def test_empty_table(self, names: Path) -> None:
        """A table may price nothing."""
        names.write_text('as_of = "never"\n[models]\n')
        assert not prices().models

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "{",
            "[models]\n",
            'as_of = "x"\n',
            'as_of = "x"\nmodels = 3\n',
            'as_of = "x"\n[models]\nmine = 3\n',
            f'as_of = "x"\nmore = 1\n[models]\nmine = {GOOD}\n',
            "as_of = 2026-08-22\n[models]\n",
            f'as_of = "x"\n[models]\nmine = {GOOD.replace("1.0", "-1.0")}\n',
            f'as_of = "x"\n[models]\nmine = {GOOD.replace("1.0", "nan")}\n',
            f'as_of = "x"\n[models]\nmine = {GOOD.replace("1.0", "inf")}\n',
            f'as_of = "x"\n[models]\nmine = {GOOD.replace("1.0", "true")}\n',
            f'as_of = "x"\n[models]\nmine = {GOOD.replace("1.0", "[1.0]")}\n',
            f'as_of = "x"\n[models]\nmine = {GOOD.replace("input = 1.0, ", "")}\n',
            f'as_of = "x"\n[models]\nmine = {GOOD.replace("input", "inputs")}\n',
            f'as_of = "x"\n[models]\nmine = {GOOD.replace(" }", ", more = 1.0 }")}\n',
        ],
    )
    def test_no_table(self, names: Path, text: str) -> None:
        """What is no TOML, lacks a key, has one too many, or a price that is none."""
        names.write_text(text)
        self._is_refused(names)

    def test_no_text(self, names: Path) -> None:
        """What is no UTF-8 is none."""
        names.write_bytes(b"\xff\xfe")
        self._is_refused(names)

    def test_missing(self, names: Path) -> None:
        """A file that is not there, and a folder, are none."""
        self._is_refused(names)
        names.mkdir()
        self._is_refused(names)

    def _is_refused(self, path: Path) -> None:
        with pytest.raises(Refused, match=PRICES) as refused:
            prices()
        assert refused.value.fields["path"] == str(path)
        assert refused.value.fields["detail"]


class TestAtHand:
    """A job that ends is not refused for its prices: where the named table is none it is ours."""

    def test_ours(self, names: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever is wrong with it."""
        names.write_text("{")
        held = prices_at_hand()
        monkeypatch.delenv(PRICES)
        assert held == prices() == prices_at_hand()

    def test_theirs(self, names: Path) -> None:
        """Where it is one it is theirs."""
        names.write_text(f'as_of = "then"\n[models]\nmine = {GOOD}\n')
        assert prices_at_hand() == prices()
        assert prices_at_hand().as_of == "then"
