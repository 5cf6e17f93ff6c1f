// Drives openapi-fetch with the types of openapi-typescript: `drive live|unknown`. Prints each step that it has made.
import createClient from 'openapi-fetch';
import type { paths as AuthPaths } from './auth';
import type { components, paths } from './webhooks';

const environment = (name: string) => process.env[name] ?? '';
const client = { client_id: environment('CLIENT_ID'), client_secret: environment('CLIENT_SECRET') };
const auth = createClient<AuthPaths>({
  baseUrl: environment('AUTH_URL'),
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
});
const evento = 'proposta.recebida';
const path = { evento } as const;
const delivered = { evento: 'demanda.criada' } as const;

const logIn = () =>
  auth.POST('/oauth/v1/token', {
    body: {
      grant_type: 'password',
      username: environment('USERNAME'),
      password: environment('PASSWORD'),
      ...client,
    },
  });

const apiWith = (token: string) =>
  createClient<paths>({ baseUrl: environment('BASE_URL'), headers: { Authorization: `Bearer ${token}` } });

async function live(): Promise<void> {
  const { data: first } = await logIn();
  done('log in', first?.token_type === 'Bearer');
  const { data: pair } = await auth.POST('/oauth/v1/token', {
    body: { grant_type: 'refresh_token', refresh_token: first?.refresh_token ?? '', ...client },
  });
  done('refresh', pair !== undefined && pair.refresh_token !== first?.refresh_token);
  const { data: told } = await auth.POST('/oauth/v1/introspect', {
    body: { token: pair?.access_token ?? '', ...client },
  });
  done('introspect', told?.active === true);
  const api = apiWith(pair?.access_token ?? '');
  const { data: webhook } = await api.POST('/v1/webhooks', { body: { evento, url: environment('HOOK_URL') } });
  done('register', webhook?.segredo.startsWith('whsec_') === true && webhook.motivo_suspensao === null);
  const { data: rotated } = await api.POST('/v1/webhooks/{evento}/segredo', { params: { path } });
  done('rotate', rotated?.segredo.startsWith('whsec_') === true && rotated.segredo !== webhook?.segredo);
  done('list', (await api.GET('/v1/webhooks')).data?.webhooks.length === 2);
  const sent = new Set<string>();
  for (let i = 0; i < 3; i += 1) {
    const { data } = await api.POST('/v1/webhooks/{evento}/teste', { params: { path } });
    sent.add(data?.id ?? '');
  }
  done('test', sent.size === 3);
  const found = new Set<string>();
  let cursor: string | undefined;
  for (let i = 0; i < 10; i += 1) {
    const query = { limite: 1, ...(cursor !== undefined && { cursor }) };
    const { data: page } = await api.GET('/v1/webhooks/{evento}/entregas', { params: { path: delivered, query } });
    for (const { id } of page?.entregas ?? []) found.add(id);
    if (!page?.proximo_cursor) break;
    cursor = page.proximo_cursor;
  }
  done('page', [...found].sort().join() === environment('DELIVERIES').split(',').sort().join());
  const span = { desde: new Date(Date.now() - 3_600_000).toISOString(), ate: new Date().toISOString() };
  const { data: recent } = await api.GET('/v1/webhooks/{evento}/entregas', {
    params: { path: delivered, query: span },
  });
  done('filter', recent?.entregas.length === 3);
  const id = environment('DELIVERY');
  const params = { path: { ...delivered, id } };
  const { data: detail } = await api.GET('/v1/webhooks/{evento}/entregas/{id}', { params });
  done('delivery', detail?.estado === 'entregue' && detail.tentativas[0]?.resultado === 'entregue');
  const { data: resent } = await api.POST('/v1/webhooks/{evento}/entregas/{id}/reenvio', { params });
  done('resend', resent?.id === id);
  const { data: replay } = await api.POST('/v1/webhooks/{evento}/reenvios', {
    params: { path: delivered },
    body: { ...span, estado: 'falhou' },
  });
  const { data: seen } = await api.GET('/v1/webhooks/{evento}/reenvios/{id}', {
    params: { path: { ...delivered, id: replay?.id ?? '' } },
  });
  done('replay', replay !== undefined && seen?.id === replay.id);
  done('422', findingOf(await replaced(api, 'http://example.com')) === 'url_not_https');
  await auth.POST('/oauth/v1/revoke', { body: { token: pair?.refresh_token ?? '', ...client } });
  done('revoke', codeOf((await api.GET('/v1/webhooks')).error) === 'invalid_token');
}

async function unknown(): Promise<void> {
  done('token', (await logIn()).data?.token_type === 'DPoP');
  const { data: told } = await auth.POST('/oauth/v1/introspect', { body: { token: 'x', ...client } });
  done('introspection', told?.active === true);
  const api = apiWith('x');
  const webhook = (await api.GET('/v1/webhooks')).data?.webhooks[0];
  const isKept = webhook?.evento === 'pagamento.confirmado' && webhook.estado === 'arquivado';
  done('webhook', isKept && webhook.motivo_suspensao === 'novo');
  const delivery = (await api.GET('/v1/webhooks/{evento}/entregas', { params: { path } })).data?.entregas[0];
  done('delivery', delivery?.estado === 'adiada' && delivery.ultimo_resultado === 'http3');
  done('problem', codeOf((await api.GET('/v1/webhooks/{evento}', { params: { path } })).error) === 'novo_codigo');
  done('422', findingOf(await replaced(api, 'https://example.com')) === 'nova_regra');
  const any: Schemas['Event'] = JSON.parse(environment('UNKNOWN_EVENT'));
  done('event', any.event === 'pagamento.confirmado');
  const grown: Schemas['Event.proposta.recebida'] = JSON.parse(environment('GROWN_EVENT'));
  done('grown event', grown.id_proposta === 20);
}

type Schemas = components['schemas'];
type Refusal = Schemas['Problem'] | Schemas['ValidationProblem'] | Schemas['GatewayMessage'] | undefined;

async function replaced(api: ReturnType<typeof apiWith>, url: string): Promise<Refusal> {
  return (await api.PUT('/v1/webhooks/{evento}', { params: { path }, body: { url } })).error;
}

function codeOf(error: Refusal): unknown {
  return error && 'code' in error ? error.code : undefined;
}

function findingOf(error: Refusal): unknown {
  return error && 'errors' in error ? (error as Schemas['ValidationProblem']).errors[0]?.code : undefined;
}

function done(step: string, holds: boolean): void {
  if (!holds) throw new Error(`${step}: not as expected`);
  console.log(step);
}

await (process.argv[2] === 'live' ? live() : unknown());
