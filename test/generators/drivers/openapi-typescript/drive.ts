// Logs in, registers, rotates and filters with openapi-fetch and the types of openapi-typescript: `drive live|later`. Prints each step
// that it has made.
import createClient from 'openapi-fetch';
import type { paths as AuthPaths } from './auth';
import type { components, paths } from './webhooks';

const environment = (name: string) => process.env[name] ?? '';

const logIn = () =>
  createClient<AuthPaths>({
    baseUrl: environment('AUTH_URL'),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  }).POST('/oauth/v1/token', {
    body: {
      grant_type: 'password',
      username: environment('USERNAME'),
      password: environment('PASSWORD'),
      client_id: environment('CLIENT_ID'),
      client_secret: environment('CLIENT_SECRET'),
    },
  });

const apiWith = (token: string) =>
  createClient<paths>({ baseUrl: environment('BASE_URL'), headers: { Authorization: `Bearer ${token}` } });

async function live(): Promise<void> {
  const { data: login } = await logIn();
  done('log in', login?.token_type === 'Bearer');
  const api = apiWith(login?.access_token ?? '');
  const evento = 'proposta.recebida';
  const { data: webhook } = await api.POST('/v1/webhooks', { body: { evento, url: environment('HOOK_URL') } });
  done('register', webhook?.segredo.startsWith('whsec_') === true && webhook.motivo_suspensao === null);
  const { data: rotated } = await api.POST('/v1/webhooks/{evento}/segredo', { params: { path: { evento } } });
  done('rotate', rotated?.segredo.startsWith('whsec_') === true && rotated.segredo !== webhook?.segredo);
  const query = { desde: new Date(Date.now() - 3_600_000).toISOString(), ate: new Date().toISOString() };
  const { data: recent } = await api.GET('/v1/webhooks/{evento}/entregas', {
    params: { path: { evento: 'demanda.criada' }, query },
  });
  done('filter', recent?.entregas.length === 3);
}

async function later(): Promise<void> {
  const webhook = (await apiWith('x').GET('/v1/webhooks')).data?.webhooks[0];
  const isKept = webhook?.evento === 'pagamento.confirmado' && webhook.estado === 'arquivado';
  done('webhook', isKept && webhook.motivo_suspensao === 'novo');
  const event: components['schemas']['Event'] = JSON.parse(environment('UNKNOWN_EVENT'));
  done('event', event.event === 'pagamento.confirmado');
}

function done(step: string, holds: boolean): void {
  if (!holds) throw new Error(`${step}: not as expected`);
  console.log(step);
}

await (process.argv[2] === 'live' ? live() : later());
