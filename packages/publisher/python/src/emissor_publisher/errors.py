"""The errors that a publisher raises."""

from collections.abc import Sequence

from .findings import Finding
from .outcome import FailedEvent, Outcome


class RefusedEventError(Exception):
    """The event is not valid: it was not sent."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        texts = [f"{finding.field}: {finding.reason}" if finding.field else finding.reason for finding in findings]
        super().__init__(f"The event was not sent: {'; '.join(texts)}.")
        self.findings = findings


class SendError(Exception):
    """The event could not be sent, or it is not known whether it was. `__cause__` is what the client raised."""

    def __init__(self, event: FailedEvent) -> None:
        advice = " Publish it again with the same id." if event.retryable else ""
        super().__init__(f"The event could not be sent: {event.code}.{advice}")
        self.event = event
        """The event, by its `id`, and what kept it from being sent."""
        self.__cause__ = event.cause


class InterruptedPublishError(Exception):
    """`publish_all` ended before its events did: `stop` was set, or the iterable raised, which is then `__cause__`."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(
            "Not all events were published: the outcome tells of those that were taken, the cause why no more were."
        )
        self.outcome = outcome
        """The outcome of the events that were taken until then."""
