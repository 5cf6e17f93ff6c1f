import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../lambdas/smoke/service-client.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { passwordGrant } from '../../tools/support/service-client.ts';
import { createClient, getTokens } from '../support/e2e-accounts.ts';
import { callApi, expectProblem, openSession, publicHost, type Session } from '../support/e2e-webhooks.ts';

let admin: Session;
let member: Session;
let reader: string;
let url: string;

beforeAll(async () => {
  const client = await createClient();
  admin = await openSession(client);
  member = await openSession(client, { account: admin.user.account, role: 'member' });
  reader = (await getTokens({ ...passwordGrant(client, admin.user), scope: 'webhooks:read' })).access_token;
  url = `https://${await publicHost()}/hook`;
  await callApi('POST', all, { token: admin.token, body: { evento: 'demanda.criada', url } });
});

const all = '/v1/webhooks';
const one = '/v1/webhooks/demanda.criada';
const none = '/v1/webhooks/demanda.finalizada';

interface Case {
  readonly to: [method: string, path: string];
  readonly request?: () => ApiRequest;
  readonly is: [status: number, code: string];
  readonly en: [title: string, detail: string];
  readonly pt: [title: string, detail: string];
}

const asAdmin = (more: ApiRequest = {}) => ({ token: admin.token, ...more });

const cases: readonly Case[] = [
  {
    to: ['GET', all],
    is: [401, 'token_missing'],
    en: ['Unauthorized', 'Send an access token: Authorization: Bearer <token>.'],
    pt: ['Não autorizado', 'Envie um token de acesso: Authorization: Bearer <token>.'],
  },
  {
    to: ['GET', all],
    request: () => ({ token: 'garbage' }),
    is: [401, 'invalid_token'],
    en: ['Unauthorized', 'The access token is malformed, expired or revoked: get a new one from the token endpoint.'],
    pt: [
      'Não autorizado',
      'O token de acesso está malformado, vencido ou revogado: obtenha um novo no endpoint de token.',
    ],
  },
  {
    to: ['GET', all],
    request: () => ({ token: member.token }),
    is: [403, 'admin_required'],
    en: ['Forbidden', 'Only users with administrative permission on the account manage webhooks.'],
    pt: ['Acesso negado', 'Somente usuários com permissão administrativa na conta podem gerenciar webhooks.'],
  },
  {
    to: ['DELETE', one],
    request: () => ({ token: reader }),
    is: [403, 'insufficient_scope'],
    en: ['Forbidden', 'The access token lacks the scope webhooks:manage.'],
    pt: ['Acesso negado', 'O token de acesso não tem o escopo webhooks:manage.'],
  },
  {
    to: ['GET', '/v1/nothing'],
    is: [404, 'not_found'],
    en: ['Not Found', 'There is nothing at this path.'],
    pt: ['Não encontrado', 'Não há nada neste caminho.'],
  },
  {
    to: ['GET', none],
    request: asAdmin,
    is: [404, 'webhook_not_found'],
    en: ['Not Found', 'There is no webhook for this event.'],
    pt: ['Não encontrado', 'Não há webhook para este evento.'],
  },
  {
    to: ['GET', `${one}/entregas/evt_x`],
    request: asAdmin,
    is: [404, 'delivery_not_found'],
    en: ['Not Found', 'There is no such delivery of this webhook, or it is past its time.'],
    pt: ['Não encontrado', 'Este webhook não tem essa entrega, ou o prazo em que ela fica guardada já passou.'],
  },
  {
    to: ['PUT', all],
    is: [405, 'method_not_allowed'],
    en: ['Method Not Allowed', 'This path takes GET, HEAD, POST.'],
    pt: ['Método não permitido', 'Este caminho aceita GET, HEAD, POST.'],
  },
  {
    to: ['DELETE', `${one}/teste`],
    is: [405, 'method_not_allowed'],
    en: ['Method Not Allowed', 'This path takes POST.'],
    pt: ['Método não permitido', 'Este caminho aceita POST.'],
  },
  {
    to: ['POST', all],
    request: () => asAdmin({ body: { evento: 'demanda.criada', url } }),
    is: [409, 'webhook_exists'],
    en: [
      'Conflict',
      'The account has a webhook for this event: change it with PUT; for another secret, POST to its path /segredo.',
    ],
    pt: [
      'Conflito',
      'A conta já tem um webhook para este evento: altere-o com PUT; para outro segredo, use POST no caminho /segredo dele.',
    ],
  },
  {
    to: ['POST', all],
    request: () => asAdmin({ headers: { 'content-type': 'application/json' }, body: '{"url":' }),
    is: [400, 'invalid_json'],
    en: ['Bad Request', 'The body is not valid JSON.'],
    pt: ['Requisição inválida', 'O corpo não é um JSON válido.'],
  },
  {
    to: ['POST', all],
    request: () => asAdmin({ body: { padding: 'x'.repeat(16 * 1024) } }),
    is: [413, 'payload_too_large'],
    en: ['Content Too Large', 'The body has more than 16384 bytes.'],
    pt: ['Conteúdo grande demais', 'O corpo tem mais de 16384 bytes.'],
  },
  {
    to: ['POST', `${one}/reenvios`],
    request: () => asAdmin({ headers: { 'content-type': 'text/plain' }, body: '{}' }),
    is: [415, 'unsupported_media_type'],
    en: ['Unsupported Media Type', 'Send the body as application/json, in UTF-8.'],
    pt: ['Tipo de mídia não suportado', 'Envie o corpo como application/json, em UTF-8.'],
  },
];

/** Asks twice, in each language, and expects the answers to differ in nothing but that. */
const ask = async ([method, path]: Case['to'], request: ApiRequest = {}) => {
  const askIn = (language: string) =>
    callApi(method, path, { ...request, headers: { ...request.headers, 'accept-language': language } });
  const [english, portuguese] = [await askIn('en'), await askIn('pt-BR,pt;q=0.9,en;q=0.8')];
  expect(english.headers.get('content-language')).toBe('en');
  expect(portuguese.headers.get('content-language')).toBe('pt-BR');
  for (const name of ['allow', 'accept', 'www-authenticate', 'content-type', 'cache-control']) {
    expect(portuguese.headers.get(name)).toBe(english.headers.get(name));
  }
  expect(portuguese.headers.get('www-authenticate') ?? '').toMatch(/^[\x20-\x7e]*$/);
  return { english, portuguese };
};

describe('Accept-Language (RFC 9110 section 12.5.4)', () => {
  it.each(cases)('$to: $is', async ({ to, request, is: [status, code], en, pt }) => {
    const { english, portuguese } = await ask(to, request?.());
    expectProblem(english, status, code);
    expectProblem(portuguese, status, code);
    expect([english.json?.title, english.json?.detail]).toEqual(en);
    expect([portuguese.json?.title, portuguese.json?.detail]).toEqual(pt);
  });

  it('says the findings about a body', async () => {
    const body = { evento: 'x', url: 'http://a.internal/', autorizacao: '', cor: 'azul' };
    const { english, portuguese } = await ask(['POST', all], asAdmin({ body }));
    expectProblem(portuguese, 422, 'validation_failed');
    expect(portuguese.json).toMatchObject({
      title: 'Conteúdo não processável',
      detail: 'A requisição não pode ser aceita: errors lista todos os motivos.',
    });
    const events = EVENT_NAMES.join(', ');
    const findings = (details: readonly string[]) => [
      { pointer: '/evento', code: 'unknown_event', detail: details[0] },
      { pointer: '/autorizacao', code: 'invalid_value', detail: details[1] },
      { pointer: '/cor', code: 'unknown_field', detail: details[2] },
      { pointer: '/url', code: 'url_not_https', detail: details[3] },
      { pointer: '/url', code: 'url_not_public', detail: details[4] },
    ];
    expect(english.json?.errors).toEqual(
      findings([
        `Must be one of ${events}.`,
        'Value must be 1 to 2048 visible ASCII characters, with spaces only between them.',
        'There is no such field here.',
        'The URL must begin with https:.',
        'Names under .internal are not public.',
      ]),
    );
    expect(portuguese.json?.errors).toEqual(
      findings([
        `Deve ser um destes valores: ${events}.`,
        'O valor deve ter de 1 a 2048 caracteres ASCII visíveis, com espaços somente entre eles.',
        'Não existe esse campo aqui.',
        'A URL deve começar com https:.',
        'Nomes terminados em .internal não são públicos.',
      ]),
    );
  });

  it('says the findings about a query', async () => {
    const path = `${one}/entregas?limite=0&desde=ontem&cor=azul&estado=feita&estado=falhou`;
    const { english, portuguese } = await ask(['GET', path], asAdmin());
    expectProblem(portuguese, 422, 'validation_failed');
    const details = ({ json }: typeof english) =>
      ((json?.errors ?? []) as { detail: string }[]).map(({ detail }) => detail);
    expect(details(english).toSorted()).toEqual([
      'Give this parameter once.',
      'There is no such parameter here.',
      'Value must be a date and time as in RFC 3339, with Z or an offset.',
      'Value must be from 1 to 100.',
    ]);
    expect(details(portuguese).toSorted()).toEqual([
      'Informe este parâmetro uma única vez.',
      'Não existe esse parâmetro aqui.',
      'O valor deve estar entre 1 e 100.',
      'O valor deve ser uma data e hora conforme a RFC 3339, com Z ou o deslocamento do fuso horário.',
    ]);
  });

  it('is English without a preference, and for every other language', async () => {
    const headers = ['*', 'fr', 'pt;q=0', 'pt_BR', 'pt, en'].map(language => ({ 'accept-language': language }));
    for (const request of [{}, ...headers.map(headers => ({ headers }))]) {
      const answer = await callApi('GET', '/v1/nothing', request);
      expect(answer.headers.get('content-language')).toBe('en');
      expect(answer.json?.title).toBe('Not Found');
    }
  });

  it('changes nothing in what is not refused', async () => {
    const answer = await callApi('GET', one, asAdmin({ headers: { 'accept-language': 'pt' } }));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-language')).toBeNull();
  });
});
