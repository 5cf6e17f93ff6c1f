// Logs in, registers, rotates and filters with the two generated Go clients: `drive live|later`. Prints each step that it has made.
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
	ctx    = context.Background()
	tokens = func() *auth.TokensAPIService {
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

func logIn() *auth.TokenResponse {
	return must(tokens.IssueToken(ctx).GrantType("password").ClientId(os.Getenv("CLIENT_ID")).ClientSecret(os.Getenv("CLIENT_SECRET")).
		Username(os.Getenv("USERNAME")).Password(os.Getenv("PASSWORD")).Execute())
}

func live() {
	login := logIn()
	done("log in", login.TokenType == "Bearer")
	ctx = context.WithValue(ctx, api.ContextAccessToken, login.AccessToken)
	event := api.PROPOSTA_RECEBIDA
	registration := *api.NewWebhookRegistration(event, os.Getenv("HOOK_URL"))
	webhook := must(client.WebhooksAPI.RegisterWebhook(ctx).WebhookRegistration(registration).Execute())
	done("register", strings.HasPrefix(webhook.Segredo, "whsec_") && webhook.MotivoSuspensao.Get() == nil)
	rotated := must(client.WebhooksAPI.RotateSecret(ctx, event).Execute())
	done("rotate", strings.HasPrefix(rotated.Segredo, "whsec_") && rotated.Segredo != webhook.Segredo)
	recent := client.DeliveriesAPI.ListDeliveries(ctx, api.DEMANDA_CRIADA).Desde(time.Now().Add(-time.Hour)).Ate(time.Now())
	done("filter", len(must(recent.Execute()).Entregas) == 3)
}

func later() {
	webhook := must(client.WebhooksAPI.ListWebhooks(ctx).Execute()).Webhooks[0]
	done("webhook", webhook.Evento == "pagamento.confirmado" && webhook.Estado == "arquivado" && *webhook.MotivoSuspensao.Get() == "novo")
	var event api.Event
	failed := json.Unmarshal([]byte(os.Getenv("UNKNOWN_EVENT")), &event)
	done("event", failed == nil && event.Event == "pagamento.confirmado")
}

func main() {
	map[string]func(){"live": live, "later": later}[os.Args[1]]()
}
