// Drives the two clients of typescript-fetch: `drive live|later`. Prints each step that it has made.
import * as auth from './auth';
import * as api from './webhooks';

const environment = (name: string) => process.env[name] ?? '';
const client = { clientId: environment('CLIENT_ID'), clientSecret: environment('CLIENT_SECRET') };
const tokens = new auth.TokensApi(new auth.Configuration({ basePath: environment('AUTH_URL') }));
const evento = api.EventName.PropostaRecebida;
const delivered = api.EventName.DemandaCriada;

const logIn = () =>
  tokens.issueToken({
    grantType: auth.IssueTokenGrantTypeEnum.Password,
    username: environment('USERNAME'),
    password: environment('PASSWORD'),
    ...client,
  });

function apisWith(accessToken: string) {
  const configuration = new api.Configuration({ basePath: environment('BASE_URL'), accessToken });
  return {
    webhooks: new api.WebhooksApi(configuration),
    deliveries: new api.DeliveriesApi(configuration),
    replays: new api.ReplaysApi(configuration),
  };
}

async function live(): Promise<void> {
  const first = await logIn();
  done('log in', first.tokenType === 'Bearer');
  const pair = await tokens.issueToken({
    grantType: auth.IssueTokenGrantTypeEnum.RefreshToken,
    refreshToken: first.refreshToken ?? '',
    ...client,
  });
  done('refresh', pair.refreshToken !== first.refreshToken);
  done('introspect', (await tokens.introspectToken({ token: pair.accessToken, ...client })).active);
  const { webhooks, deliveries, replays } = apisWith(pair.accessToken);
  const webhook = await webhooks.registerWebhook({ webhookRegistration: { evento, url: environment('HOOK_URL') } });
  done('register', webhook.segredo.startsWith('whsec_') && webhook.motivoSuspensao === null);
  const rotated = await webhooks.rotateSecret({ evento });
  done('rotate', rotated.segredo.startsWith('whsec_') && rotated.segredo !== webhook.segredo);
  done('list', (await webhooks.listWebhooks()).webhooks.length === 2);
  const sent = new Set<string>();
  for (let i = 0; i < 3; i += 1) sent.add((await deliveries.sendTest({ evento })).id);
  done('test', sent.size === 3);
  const found = new Set<string>();
  let cursor: string | undefined;
  for (let i = 0; i < 10; i += 1) {
    const page = await deliveries.listDeliveries({
      evento: delivered,
      limite: 1,
      ...(cursor !== undefined && { cursor }),
    });
    for (const { id } of page.entregas) found.add(id);
    if (page.proximoCursor === null) break;
    cursor = page.proximoCursor;
  }
  done('page', [...found].sort().join() === environment('DELIVERIES').split(',').sort().join());
  const recent = { desde: new Date(Date.now() - 3_600_000), ate: new Date() };
  done('filter', (await deliveries.listDeliveries({ evento: delivered, ...recent })).entregas.length === 3);
  const id = environment('DELIVERY');
  const detail = await deliveries.getDelivery({ evento: delivered, id });
  done('delivery', detail.estado === 'entregue' && detail.tentativas[0]?.resultado === 'entregue');
  done('resend', (await deliveries.resendDelivery({ evento: delivered, id })).id === id);
  const span = { ...recent, estado: api.ReplayRequestEstadoEnum.Falhou };
  const replay = await replays.startReplay({ evento: delivered, replayRequest: span });
  done('replay', (await replays.getReplay({ evento: delivered, id: replay.id })).id === replay.id);
  const webhookReplacement = { url: 'http://example.com' };
  const refused = await refusal(webhooks.replaceWebhook({ evento, webhookReplacement }));
  done('422', api.ValidationProblemFromJSON(refused).errors[0]?.code === 'url_not_https');
  await tokens.revokeToken({ token: pair.refreshToken ?? '', ...client });
  done('revoke', api.ProblemFromJSON(await refusal(webhooks.listWebhooks())).code === 'invalid_token');
}

async function later(): Promise<void> {
  done('token', (await logIn()).tokenType === 'DPoP');
  done('introspection', (await tokens.introspectToken({ token: 'x', ...client })).active);
  const { webhooks, deliveries } = apisWith('x');
  const [webhook] = (await webhooks.listWebhooks()).webhooks;
  const { evento: event, estado, motivoSuspensao } = webhook ?? {};
  done('webhook', event === 'pagamento.confirmado' && estado === 'arquivado' && motivoSuspensao === 'novo');
  const [delivery] = (await deliveries.listDeliveries({ evento })).entregas;
  done('delivery', delivery?.estado === 'adiada' && delivery.ultimoResultado === 'http3');
  done('problem', api.ProblemFromJSON(await refusal(webhooks.getWebhook({ evento }))).code === 'novo_codigo');
  const refused = await refusal(
    webhooks.replaceWebhook({ evento, webhookReplacement: { url: 'https://example.com' } }),
  );
  done('422', api.ValidationProblemFromJSON(refused).errors[0]?.code === 'nova_regra');
  done('event', api.EventFromJSON(JSON.parse(environment('UNKNOWN_EVENT'))).event === 'pagamento.confirmado');
  done('grown event', api.EventPropostaRecebidaFromJSON(JSON.parse(environment('GROWN_EVENT'))).idProposta === 20);
}

async function refusal(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    if (error instanceof api.ResponseError) return error.response.json();
    throw error;
  }
  throw new Error('not refused');
}

function done(step: string, holds: boolean): void {
  if (!holds) throw new Error(`${step}: not as expected`);
  console.log(step);
}

await (process.argv[2] === 'live' ? live() : later());
