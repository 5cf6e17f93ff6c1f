// Drives the two generated Go clients: `drive live|unknown`. Prints each step that it has made.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	auth "github.com/emissor/auth"
	api "github.com/emissor/webhooks"
)

var (
	ctx          = context.Background()
	clientID     = os.Getenv("CLIENT_ID")
	clientSecret = os.Getenv("CLIENT_SECRET")
	tokens       = func() *auth.TokensAPIService {
		configuration := auth.NewConfiguration()
		configuration.Servers = auth.ServerConfigurations{{URL: os.Getenv("AUTH_URL")}}
		return auth.NewAPIClient(configuration).TokensAPI
	}()
	client = func() *api.APIClient {
		configuration := api.NewConfiguration()
		configuration.Servers = api.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
		return api.NewAPIClient(configuration)
	}()
)

func done(step string, holds bool) {
	if !holds {
		fmt.Fprintln(os.Stderr, step+": not as expected")
		os.Exit(1)
	}
	fmt.Println(step)
}

func must[Value any](value Value, _ any, err error) Value {
	if err != nil {
		var refusal *api.GenericOpenAPIError
		if errors.As(err, &refusal) {
			fmt.Fprintln(os.Stderr, string(refusal.Body()))
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func refused[Model any](err error) Model {
	var refusal *api.GenericOpenAPIError
	if !errors.As(err, &refusal) {
		fmt.Fprintln(os.Stderr, "not refused:", err)
		os.Exit(1)
	}
	model, is := refusal.Model().(Model)
	done("", is)
	return model
}

func logIn() *auth.TokenResponse {
	return must(tokens.IssueToken(ctx).GrantType("password").ClientId(clientID).ClientSecret(clientSecret).
		Username(os.Getenv("USERNAME")).Password(os.Getenv("PASSWORD")).Execute())
}

func introspect(token string) *auth.Introspection {
	return must(tokens.IntrospectToken(ctx).Token(token).ClientId(clientID).ClientSecret(clientSecret).Execute())
}

func live() {
	first := logIn()
	done("log in", first.TokenType == "Bearer")
	pair := must(tokens.IssueToken(ctx).GrantType("refresh_token").RefreshToken(first.GetRefreshToken()).
		ClientId(clientID).ClientSecret(clientSecret).Execute())
	done("refresh", pair.GetRefreshToken() != first.GetRefreshToken())
	done("introspect", introspect(pair.AccessToken).Active)
	ctx = context.WithValue(ctx, api.ContextAccessToken, pair.AccessToken)
	event := api.PROPOSTA_RECEBIDA
	registration := *api.NewWebhookRegistration(event, os.Getenv("HOOK_URL"))
	webhook := must(client.WebhooksAPI.RegisterWebhook(ctx).WebhookRegistration(registration).Execute())
	done("register", strings.HasPrefix(webhook.Segredo, "whsec_") && webhook.MotivoSuspensao.Get() == nil)
	rotated := must(client.WebhooksAPI.RotateSecret(ctx, event).Execute())
	done("rotate", strings.HasPrefix(rotated.Segredo, "whsec_") && rotated.Segredo != webhook.Segredo)
	done("list", len(must(client.WebhooksAPI.ListWebhooks(ctx).Execute()).Webhooks) == 2)
	sent := map[string]bool{}
	for range 3 {
		sent[must(client.DeliveriesAPI.SendTest(ctx, event).Execute()).Id] = true
	}
	done("test", len(sent) == 3)
	found := map[string]bool{}
	request := client.DeliveriesAPI.ListDeliveries(ctx, api.DEMANDA_CRIADA).Limite(1)
	for range 10 {
		page := must(request.Execute())
		for _, delivery := range page.Entregas {
			found[delivery.Id] = true
		}
		cursor := page.ProximoCursor.Get()
		if cursor == nil {
			break
		}
		request = request.Cursor(*cursor)
	}
	done("page", len(found) == 3 && found[os.Getenv("DELIVERY")])
	recent := client.DeliveriesAPI.ListDeliveries(ctx, api.DEMANDA_CRIADA).Desde(time.Now().Add(-time.Hour)).Ate(time.Now())
	done("filter", len(must(recent.Execute()).Entregas) == 3)
	id := os.Getenv("DELIVERY")
	detail := must(client.DeliveriesAPI.GetDelivery(ctx, api.DEMANDA_CRIADA, id).Execute())
	done("delivery", detail.Estado == "entregue" && detail.Tentativas[0].Resultado == "entregue")
	done("resend", must(client.DeliveriesAPI.ResendDelivery(ctx, api.DEMANDA_CRIADA, id).Execute()).Id == id)
	span := *api.NewReplayRequest(time.Now().Add(-time.Hour), time.Now(), "falhou")
	replay := must(client.ReplaysAPI.StartReplay(ctx, api.DEMANDA_CRIADA).ReplayRequest(span).Execute())
	done("replay", must(client.ReplaysAPI.GetReplay(ctx, api.DEMANDA_CRIADA, replay.Id).Execute()).Id == replay.Id)
	_, _, err := client.WebhooksAPI.ReplaceWebhook(ctx, event).
		WebhookReplacement(*api.NewWebhookReplacement("http://example.com")).Execute()
	done("422", refused[api.ValidationProblem](err).Errors[0].Code == "url_not_https")
	must(tokens.RevokeToken(ctx).Token(pair.GetRefreshToken()).ClientId(clientID).ClientSecret(clientSecret).Execute())
	_, _, err = client.WebhooksAPI.ListWebhooks(ctx).Execute()
	done("revoke", refused[api.Problem](err).Code == "invalid_token")
}

func unknown() {
	done("token", logIn().TokenType == "DPoP")
	done("introspection", introspect("x").Active)
	webhook := must(client.WebhooksAPI.ListWebhooks(ctx).Execute()).Webhooks[0]
	done("webhook", webhook.Evento == "pagamento.confirmado" && webhook.Estado == "arquivado" && *webhook.MotivoSuspensao.Get() == "novo")
	event := api.PROPOSTA_RECEBIDA
	delivery := must(client.DeliveriesAPI.ListDeliveries(ctx, event).Execute()).Entregas[0]
	done("delivery", delivery.Estado == "adiada" && *delivery.UltimoResultado.Get() == "http3")
	_, _, err := client.WebhooksAPI.GetWebhook(ctx, event).Execute()
	done("problem", refused[api.Problem](err).Code == "novo_codigo")
	_, _, err = client.WebhooksAPI.ReplaceWebhook(ctx, event).
		WebhookReplacement(*api.NewWebhookReplacement("https://example.com")).Execute()
	done("422", refused[api.ValidationProblem](err).Errors[0].Code == "nova_regra")
	var any api.Event
	failed := json.Unmarshal([]byte(os.Getenv("UNKNOWN_EVENT")), &any)
	done("event", failed == nil && any.Event == "pagamento.confirmado")
	var grown api.EventPropostaRecebida
	failed = json.Unmarshal([]byte(os.Getenv("GROWN_EVENT")), &grown)
	done("grown event", failed == nil && grown.IdProposta == 20)
}

func main() {
	map[string]func(){"live": live, "unknown": unknown}[os.Args[1]]()
}
