"""What a supervisor hears beside the events."""

from tests.claude.lines import (
    answers,
    calls,
    failure,
    init,
    listener,
    result,
    says,
    system,
    wire,
)


class TestListening:
    """A supervisor hears whether the client is busy, waits, has work behind it, or is done."""

    def test_open_tools(self) -> None:
        """A call is open until its result, a subagent's too."""
        parser = listener(calls("t1"), calls("t2", parent="t1"), answers("t1"))
        assert parser.listening.open_tools == {"t2"}

    def test_answer_first(self) -> None:
        """A call whose result came already, or that is told twice, is not open."""
        assert listener(answers("t1"), calls("t1")).listening.open_tools == frozenset()

    def test_retry(self) -> None:
        """The client waits until a response or a result."""
        waiting = system("api_retry", retry_delay_ms=500)
        assert listener(waiting).listening.retry_ms == 500
        assert listener(waiting, says()).listening.retry_ms is None
        assert listener(waiting, failure()).listening.retry_ms is None

    def test_background(self) -> None:
        """The last list is the truth; shells are told apart, since nobody waits for them."""
        tasks = [{"task_type": "local_bash"}, {"task_type": "local_agent"}, {}]
        parser = listener(system("background_tasks_changed", tasks=tasks))
        assert (parser.listening.background, parser.listening.background_agents) == (3, 2)
        parser.feed(wire(system("background_tasks_changed", tasks=[])), None)
        assert parser.listening.background == 0

    def test_resulted(self) -> None:
        """A result is final unless a turn is queued, and until another one begins."""
        assert listener(result(queued_turn_count=0)).listening.resulted
        assert not listener(result(queued_turn_count=1)).listening.resulted
        assert not listener(result(), init()).listening.resulted
        assert not listener(result(), says()).listening.resulted
        assert listener(result(), system("task_notification")).listening.resulted

    def test_refused(self) -> None:
        """It is known as soon as it is announced."""
        told = system("informational", model_restriction={"requested_model": "a"})
        assert listener(told).listening.refused
        assert not listener(init()).listening.refused
