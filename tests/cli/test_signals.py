"""Signals that ask a run to end: counted whenever they come, and said when that does no harm."""

import os
import signal

from forks_cli.signals import Stops, heard


class TestStops:
    """The first and the second signal."""

    def test_in_the_middle_of_a_line(self) -> None:
        """A signal that comes while something is said does not speak into it."""
        said: list[str] = []
        speaks = False

        def say(text: str) -> None:
            nonlocal speaks
            assert not speaks, "spoke into a line"
            speaks = True
            os.kill(os.getpid(), signal.SIGTERM)
            said.append(text)
            speaks = False

        stops = Stops(say)
        with heard(stops):
            say("a line")
            assert said == ["a line"]
            # It comes again while that is said what the first one does.
            assert stops.count() == 2
        assert len(said) == 2
        assert said[1].startswith("stops after this attempt")

    def test_said_once(self) -> None:
        """Nothing is said before the first signal, and nothing more at the second."""
        said: list[str] = []
        stops = Stops(said.append)
        with heard(stops):
            assert (stops.count(), said) == (0, [])
            for number in (signal.SIGINT, signal.SIGHUP):
                os.kill(os.getpid(), number)
                stops.count()
        assert (stops.count(), len(said)) == (2, 1)

    def test_what_was_ignored_stays_so(self) -> None:
        """As under nohup, a hang-up that was ignored is no wish; the handlers are put back."""
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            stops = Stops(lambda _: None)
            with heard(stops):
                os.kill(os.getpid(), signal.SIGHUP)
                os.kill(os.getpid(), signal.SIGINT)
            assert stops.count() == 1
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        finally:
            signal.signal(signal.SIGHUP, before)
