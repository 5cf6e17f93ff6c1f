import type { Service } from '../api.ts';
import { Button, Code, CopyButton, Link, StateBadge, Time, Verification } from '../components.tsx';
import { isTest } from '../count-deliveries.ts';
import { eventNames } from '../events.ts';
import { belongsTo } from '../health.tsx';
import { type Handler, isLocal, pathOf } from '../view.ts';

export const firstStepsPage: Handler = async ({ api, service, t, claims, now }, _, values) => {
  const { webhooks } = await api.listWebhooks();
  const candidates = [values.get('event'), ...eventNames];
  const webhook = candidates.map(event => webhooks.find(({ evento }) => evento === event)).find(match => match);
  const event = webhook?.evento ?? eventNames[0] ?? '';
  const { entregas = [] } = webhook ? await api.listDeliveries(event, { limite: 100 }) : {};
  // After many events, the test is no longer among the latest deliveries. Then a delivered event shows that the webhook works.
  const own = entregas.filter(one => webhook && belongsTo(webhook, one));
  const latest = own.find(({ id }) => isTest(id)) ?? own.find(({ estado }) => estado === 'entregue') ?? own[0];
  const missing = eventNames.filter(name => !webhooks.some(({ evento }) => evento === name)).length;
  const isDelivered = latest?.estado === 'entregue';
  const isAwaited = latest?.estado === 'pendente' && latest.tentativas === 0;
  const webhookStep = webhook ? (
    <p>
      {event}: <Code>{webhook.url}</Code>
    </p>
  ) : (
    <>
      <p>
        {t.steps.aboutWebhook} {isLocal(service) && t.steps.localReceiver}
      </p>
      <Link to={`/register?${new URLSearchParams({ evento: event, back: 'first-steps' })}`} kind="button main">
        {t.webhooks.register}
      </Link>
    </>
  );
  const testStep = webhook ? (
    <>
      <p>{t.steps.aboutSample}</p>
      {latest && (
        <p>
          <Time at={latest.criado_em} /> <Code>{latest.id}</Code>
        </p>
      )}
      <Button action="/first-steps/sample" kind={!latest && 'main'} fields={{ event }}>
        {t.webhook.test}
      </Button>
    </>
  ) : (
    <p class="muted">{t.steps.before(2)}</p>
  );
  const deliveryStep = latest ? (
    <>
      <p>
        <StateBadge state={latest.estado} />{' '}
        {isDelivered ? t.steps.delivered : isAwaited ? t.steps.notYet : t.steps.failing}{' '}
        <Link to={pathOf(event, latest.id)}>{t.steps.seeDelivery}</Link>
      </p>
      {isDelivered && <Verification />}
      {isDelivered && missing > 0 && (
        <Link to="/register?evento=*" kind="button main">
          {t.webhooks.registerAll(missing)}
        </Link>
      )}
    </>
  ) : (
    <p class="muted">{t.steps.before(3)}</p>
  );
  const curl = commandsOf(service, event);
  const token = <Code>{`account_id: ${claims.account_id}, scope: ${claims.scope}`}</Code>;
  const steps = [
    [t.steps.token, token, curl.token, true],
    [t.register.title, webhookStep, curl.webhook, webhook],
    [t.webhook.test, testStep, curl.sample, latest],
    [t.steps.delivery, deliveryStep, curl.delivery, isDelivered],
  ] as const;
  return {
    title: t.nav.firstSteps,
    lead: t.steps.lead,
    ...(isAwaited && now - Date.parse(latest.criado_em) < 120_000 && { refreshSeconds: 2 }),
    content: (
      <ol class="steps">
        {steps.map(([name, content, command, isDone], at) => (
          <li class="card">
            <div id={`step-${at + 1}`} data-live>
              <header class={isDone ? 'done' : ''}>
                <h2>{name}</h2>
                {isDone && <span class="badge good">{t.steps.done}</span>}
              </header>
              <div class="inside">{content}</div>
            </div>
            <details class="inside">
              <summary>{t.steps.withCurl}</summary>
              <pre>{command}</pre>
              <CopyButton text={command} of={name} />
            </details>
          </li>
        ))}
      </ol>
    ),
  };
};

export const sendSample: Handler = async ({ api, t }, _, form) => {
  const event = form.get('event') ?? '';
  await api.test(event);
  return { to: `/first-steps?${new URLSearchParams({ event })}`, notes: [{ kind: 'done', text: t.webhook.tested }] };
};

function commandsOf({ authUrl, baseUrl }: Service, event: string) {
  const bearer = '-H "Authorization: Bearer $TOKEN"';
  const body = JSON.stringify({ evento: event, url: 'https://hooks.example.com/emissor' });
  return {
    token: [
      `TOKEN=$(curl -s ${authUrl}/oauth/v1/token -d grant_type=password`,
      '-d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET',
      "--data-urlencode 'username=USERNAME' --data-urlencode 'password=PASSWORD'",
      `| sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    ].join(' \\\n  '),
    webhook: `curl -s ${baseUrl}/v1/webhooks ${bearer} \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`,
    sample: `curl -s -X POST ${baseUrl}/v1/webhooks/${event}/teste ${bearer}`,
    delivery: `curl -s '${baseUrl}/v1/webhooks/${event}/entregas?limite=1' ${bearer}`,
  };
}
