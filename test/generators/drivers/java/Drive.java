import emissor.auth.api.TokensApi;
import emissor.auth.model.TokenResponse;
import emissor.webhooks.ApiClient;
import emissor.webhooks.ApiException;
import emissor.webhooks.api.DeliveriesApi;
import emissor.webhooks.api.ReplaysApi;
import emissor.webhooks.api.WebhooksApi;
import emissor.webhooks.model.*;
import java.net.URI;
import java.time.OffsetDateTime;
import java.util.HashSet;
import java.util.Set;

/** Calls the two generated Java clients (`Drive live|later`). Prints each completed step. */
public class Drive {
  static final String CLIENT = System.getenv("CLIENT_ID"), SECRET = System.getenv("CLIENT_SECRET");
  static final TokensApi tokens = new TokensApi(new emissor.auth.ApiClient().setBasePath(System.getenv("AUTH_URL")));
  static final EventName EVENT = EventName.PROPOSTA_RECEBIDA, DELIVERED = EventName.DEMANDA_CRIADA;

  public static void main(String[] args) throws Exception {
    if (args[0].equals("live")) live(); else later();
    System.exit(0); // OkHttp's threads would keep the process alive
  }

  static void live() throws Exception {
    TokenResponse first = logIn();
    done("log in", first.getTokenType().equals("Bearer"));
    TokenResponse pair = tokens.issueToken("refresh_token", CLIENT, SECRET, null, null, null, first.getRefreshToken());
    done("refresh", !pair.getRefreshToken().equals(first.getRefreshToken()));
    done("introspect", tokens.introspectToken(pair.getAccessToken(), CLIENT, SECRET, null).getActive());
    ApiClient client = webhooksClient(pair.getAccessToken());
    WebhooksApi webhooks = new WebhooksApi(client);
    DeliveriesApi deliveries = new DeliveriesApi(client);
    ReplaysApi replays = new ReplaysApi(client);
    RegisteredWebhook webhook =
        webhooks.registerWebhook(new WebhookRegistration().evento(EVENT).url(URI.create(System.getenv("HOOK_URL"))), null);
    done("register", webhook.getSegredo().startsWith("whsec_") && webhook.getMotivoSuspensao() == null);
    String rotated = webhooks.rotateSecret(EVENT, null, null).getSegredo();
    done("rotate", rotated.startsWith("whsec_") && !rotated.equals(webhook.getSegredo()));
    done("list", webhooks.listWebhooks(null).getWebhooks().size() == 2);
    Set<String> sent = new HashSet<>(), found = new HashSet<>();
    for (int i = 0; i < 3; i++) sent.add(deliveries.sendTest(EVENT, null).getId());
    done("test", sent.size() == 3);
    String cursor = null;
    for (int i = 0; i < 10; i++) {
      DeliveryPage page = deliveries.listDeliveries(DELIVERED, null, null, null, 1, cursor, null);
      page.getEntregas().forEach(delivery -> found.add(delivery.getId()));
      cursor = page.getProximoCursor();
      if (cursor == null) break;
    }
    done("page", found.equals(Set.of(System.getenv("DELIVERIES").split(","))));
    OffsetDateTime now = OffsetDateTime.now();
    DeliveryPage recent = deliveries.listDeliveries(DELIVERED, null, now.minusHours(1), now, null, null, null);
    done("filter", recent.getEntregas().size() == 3);
    String id = System.getenv("DELIVERY");
    DeliveryDetail detail = deliveries.getDelivery(DELIVERED, id, null);
    done("delivery", detail.getEstado().equals("entregue") && detail.getTentativas().get(0).getResultado().equals("entregue"));
    done("resend", deliveries.resendDelivery(DELIVERED, id, null).getId().equals(id));
    ReplayRequest range = new ReplayRequest().desde(now.minusHours(1)).ate(now).estado(ReplayRequest.EstadoEnum.FALHOU);
    Replay replay = replays.startReplay(DELIVERED, range, null);
    done("replay", replays.getReplay(DELIVERED, replay.getId(), null).getId().equals(replay.getId()));
    String body = errorBody(() -> webhooks.replaceWebhook(EVENT, replacement("http://example.com"), null));
    done("422", ValidationProblem.fromJson(body).getErrors().get(0).getCode().equals("url_not_https"));
    tokens.revokeToken(pair.getRefreshToken(), CLIENT, SECRET, null);
    done("revoke", Problem.fromJson(errorBody(() -> webhooks.listWebhooks(null))).getCode().equals("invalid_token"));
  }

  static void later() throws Exception {
    done("token", logIn().getTokenType().equals("DPoP"));
    done("introspection", tokens.introspectToken("x", CLIENT, SECRET, null).getActive());
    ApiClient client = webhooksClient("x");
    WebhooksApi webhooks = new WebhooksApi(client);
    Webhook webhook = webhooks.listWebhooks(null).getWebhooks().get(0);
    done("webhook", webhook.getEvento().equals("pagamento.confirmado") && webhook.getEstado().equals("arquivado") && webhook.getMotivoSuspensao().equals("novo"));
    Delivery delivery = new DeliveriesApi(client).listDeliveries(EVENT, null, null, null, null, null, null).getEntregas().get(0);
    done("delivery", delivery.getEstado().equals("adiada") && delivery.getUltimoResultado().equals("http3"));
    done("problem", Problem.fromJson(errorBody(() -> webhooks.getWebhook(EVENT, null))).getCode().equals("novo_codigo"));
    String body = errorBody(() -> webhooks.replaceWebhook(EVENT, replacement("https://example.com"), null));
    done("422", ValidationProblem.fromJson(body).getErrors().get(0).getCode().equals("nova_regra"));
    done("event", Event.fromJson(System.getenv("UNKNOWN_EVENT")).getEvent().equals("pagamento.confirmado"));
    done("grown event", EventPropostaRecebida.fromJson(System.getenv("GROWN_EVENT")).getIdProposta() == 20);
  }

  static TokenResponse logIn() throws Exception {
    return tokens.issueToken("password", CLIENT, SECRET, System.getenv("USERNAME"), System.getenv("PASSWORD"), null, null);
  }

  static ApiClient webhooksClient(String token) {
    ApiClient client = new ApiClient().setBasePath(System.getenv("BASE_URL"));
    client.setAccessToken(token);
    return client;
  }

  static WebhookReplacement replacement(String url) {
    return new WebhookReplacement().url(URI.create(url));
  }

  interface Call { void make() throws ApiException; }

  static String errorBody(Call call) {
    try {
      call.make();
    } catch (ApiException error) {
      return error.getResponseBody();
    }
    throw new IllegalStateException("The request did not fail.");
  }

  static void done(String step, boolean isCorrect) {
    if (!isCorrect) throw new IllegalStateException(step + ": unexpected result");
    System.out.println(step);
  }
}
