"""Calls the two generated Python clients (`drive.py live|later`). Prints each completed step."""

import os
import sys
from datetime import datetime, timedelta, timezone

import emissor_auth
import emissor_webhooks as api

env = os.environ


def done(step, is_correct):
    if not is_correct:
        sys.exit(f"{step}: unexpected result")
    print(step)


def log_in():
    tokens = emissor_auth.TokensApi(emissor_auth.ApiClient(emissor_auth.Configuration(host=env["AUTH_URL"])))
    return tokens.issue_token(
        grant_type="password",
        username=env["USERNAME"],
        password=env["PASSWORD"],
        client_id=env["CLIENT_ID"],
        client_secret=env["CLIENT_SECRET"],
    )


def connect(token):
    return api.ApiClient(api.Configuration(host=env["BASE_URL"], access_token=token))


def live():
    login = log_in()
    done("log in", login.token_type == "Bearer")
    connection = connect(login.access_token)
    webhooks, deliveries = api.WebhooksApi(connection), api.DeliveriesApi(connection)
    event = api.EventName("proposta.recebida")
    webhook = webhooks.register_webhook(api.WebhookRegistration(evento=event, url=env["HOOK_URL"]))
    done("register", webhook.segredo.startswith("whsec_") and webhook.motivo_suspensao is None)
    rotated = webhooks.rotate_secret(event).segredo
    done("rotate", rotated.startswith("whsec_") and rotated != webhook.segredo)
    now = datetime.now(timezone.utc)
    recent = deliveries.list_deliveries(api.EventName("demanda.criada"), desde=now - timedelta(hours=1), ate=now)
    done("filter", len(recent.entregas) == 3)


def later():
    webhook = api.WebhooksApi(connect("x")).list_webhooks().webhooks[0]
    shown = (webhook.evento, webhook.estado, webhook.motivo_suspensao)
    done("webhook", shown == ("pagamento.confirmado", "arquivado", "novo"))
    done("event", api.Event.from_json(env["UNKNOWN_EVENT"]).event == "pagamento.confirmado")


{"live": live, "later": later}[sys.argv[1]]()
