"""Drives the two generated Python clients: `drive.py live|unknown`. Prints each step that it has made."""

import os
import sys
from datetime import datetime, timedelta, timezone

import emissor_auth
import emissor_webhooks as api

env = os.environ
client = {"client_id": env["CLIENT_ID"], "client_secret": env["CLIENT_SECRET"]}
tokens = emissor_auth.TokensApi(emissor_auth.ApiClient(emissor_auth.Configuration(host=env["AUTH_URL"])))


def done(step, holds=True):
    if not holds:
        sys.exit(f"{step}: not as expected")
    print(step)


def refused(call):
    try:
        call()
    except api.ApiException as error:
        return error
    sys.exit("not refused")


def log_in():
    return tokens.issue_token(grant_type="password", username=env["USERNAME"], password=env["PASSWORD"], **client)


def webhooks_client(token):
    return api.ApiClient(api.Configuration(host=env["BASE_URL"], access_token=token))


def live():
    first = log_in()
    done("log in", first.token_type == "Bearer")
    pair = tokens.issue_token(grant_type="refresh_token", refresh_token=first.refresh_token, **client)
    done("refresh", pair.refresh_token != first.refresh_token)
    done("introspect", tokens.introspect_token(token=pair.access_token, **client).active)
    connection = webhooks_client(pair.access_token)
    webhooks, deliveries = api.WebhooksApi(connection), api.DeliveriesApi(connection)
    replays = api.ReplaysApi(connection)
    event = api.EventName("proposta.recebida")
    webhook = webhooks.register_webhook(api.WebhookRegistration(evento=event, url=env["HOOK_URL"]))
    done("register", webhook.segredo.startswith("whsec_") and webhook.motivo_suspensao is None)
    rotated = webhooks.rotate_secret(event).segredo
    done("rotate", rotated.startswith("whsec_") and rotated != webhook.segredo)
    done("list", len(webhooks.list_webhooks().webhooks) == 2)
    sent = {deliveries.send_test(event).id for _ in range(3)}
    done("test", len(sent) == 3)
    delivered = api.EventName("demanda.criada")
    found, cursor = set(), None
    for _ in range(10):
        page = deliveries.list_deliveries(delivered, limite=1, cursor=cursor)
        found.update(delivery.id for delivery in page.entregas)
        cursor = page.proximo_cursor
        if cursor is None:
            break
    done("page", found == set(env["DELIVERIES"].split(",")))
    now = datetime.now(timezone.utc)
    recent = deliveries.list_deliveries(delivered, desde=now - timedelta(hours=1), ate=now)
    done("filter", len(recent.entregas) == 3)
    detail = deliveries.get_delivery(delivered, env["DELIVERY"])
    done("delivery", detail.estado == "entregue" and detail.tentativas[0].resultado == "entregue")
    done("resend", deliveries.resend_delivery(delivered, env["DELIVERY"]).id == env["DELIVERY"])
    span = api.ReplayRequest(desde=now - timedelta(hours=1), ate=now, estado="falhou")
    replay = replays.start_replay(delivered, span)
    done("replay", replays.get_replay(delivered, replay.id).id == replay.id)
    error = refused(lambda: webhooks.replace_webhook(event, api.WebhookReplacement(url="http://example.com")))
    done("422", isinstance(error.data, api.ValidationProblem) and error.data.errors[0].code == "url_not_https")
    tokens.revoke_token(token=pair.refresh_token, **client)
    error = refused(webhooks.list_webhooks)
    done("revoke", isinstance(error.data, api.Problem) and error.data.code == "invalid_token")


def unknown():
    done("token", log_in().token_type == "DPoP")
    done("introspection", tokens.introspect_token(token="x", **client).active)
    connection = webhooks_client("x")
    webhooks, deliveries = api.WebhooksApi(connection), api.DeliveriesApi(connection)
    webhook = webhooks.list_webhooks().webhooks[0]
    done("webhook", (webhook.evento, webhook.estado, webhook.motivo_suspensao) == ("pagamento.confirmado", "arquivado", "novo"))
    event = api.EventName("proposta.recebida")
    delivery = deliveries.list_deliveries(event).entregas[0]
    done("delivery", (delivery.estado, delivery.ultimo_resultado) == ("adiada", "http3"))
    error = refused(lambda: webhooks.get_webhook(event))
    done("problem", isinstance(error.data, api.Problem) and error.data.code == "novo_codigo")
    error = refused(lambda: webhooks.replace_webhook(event, api.WebhookReplacement(url="https://example.com")))
    done("422", isinstance(error.data, api.ValidationProblem) and error.data.errors[0].code == "nova_regra")
    done("event", api.Event.from_json(env["UNKNOWN_EVENT"]).event == "pagamento.confirmado")
    grown = api.EventPropostaRecebida.from_json(env["GROWN_EVENT"])
    done("grown event", grown.id_proposta == 20)


{"live": live, "unknown": unknown}[sys.argv[1]]()
