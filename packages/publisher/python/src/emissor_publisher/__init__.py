"""Publishes business events to Emissor's events queue."""

from .errors import InterruptedPublishError, RefusedEventError, SendError
from .events import (
    BusinessEvent,
    DemandaCancelada,
    DemandaCriada,
    DemandaFinalizada,
    EventName,
    MensagemRecebida,
    PropostaAlteracaoValorSolicitado,
    PropostaContratada,
    PropostaRecebida,
    ReembolsoSolicitado,
)
from .findings import Finding, findings_of
from .message import webhook_id_of
from .outcome import FailedEvent, Outcome, RefusedEvent, SentEvent
from .publisher import Publisher, create_publisher

__all__ = [
    "BusinessEvent",
    "DemandaCancelada",
    "DemandaCriada",
    "DemandaFinalizada",
    "EventName",
    "FailedEvent",
    "Finding",
    "InterruptedPublishError",
    "MensagemRecebida",
    "Outcome",
    "PropostaAlteracaoValorSolicitado",
    "PropostaContratada",
    "PropostaRecebida",
    "Publisher",
    "ReembolsoSolicitado",
    "RefusedEvent",
    "RefusedEventError",
    "SendError",
    "SentEvent",
    "create_publisher",
    "findings_of",
    "webhook_id_of",
]
