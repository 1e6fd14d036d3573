"""A shell script in the client's place, where a test needs a client without manners."""

from tests.driver import Run


def use_shell(run: Run, body: str) -> None:
    """Put a shell script in the client's place; it answers ``--version`` like any client."""
    run.client.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && {{ echo 9.9.9; exit; }}\n{body}\n', encoding="utf-8"
    )
