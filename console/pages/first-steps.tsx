import type { Child } from 'hono/jsx';
import type { DeliveryRecord } from '../../lambdas/delivery/representation.ts';
import type { WebhookRecord } from '../../lambdas/webhooks/representation.ts';
import type { Service } from '../api.ts';
import { Button, Code, CopyButton, Link, Pre, StateBadge, Time } from '../components.tsx';
import { eventNames } from '../events.ts';
import { isOf } from '../health.tsx';
import { isTest } from '../tally.ts';
import { type Handler, pathOf, useView } from '../view.ts';

/** Leads a newcomer from a token to a delivery. Each step shows what exists already, however it came to be. */
export const firstStepsPage: Handler = async ({ api, service, t, claims, now }, _, values) => {
  const { webhooks } = await api.listWebhooks();
  const asked = [values.get('event'), ...eventNames];
  const webhook = asked.map(event => webhooks.find(({ evento }) => evento === event)).find(found => found);
  const event = webhook?.evento ?? eventNames[0] ?? '';
  const { entregas = [] } = webhook ? await api.listDeliveries(event, { limite: 100 }) : {};
  const latest = entregas.find(one => webhook && isTest(one.id) && isOf(webhook, one));
  const done = [true, webhook !== undefined, latest !== undefined, latest?.estado === 'entregue'];
  const curl = commandsOf(service, event);
  const steps = [
    [
      t.steps.token,
      <>
        <p>{t.steps.aboutToken}</p>
        <Pre>{JSON.stringify(claims, null, 2)}</Pre>
      </>,
      curl.token,
    ],
    [t.register.title, <WebhookStep event={event} webhook={webhook} />, curl.webhook],
    [t.webhook.test, <SampleStep event={event} webhook={webhook} latest={latest} />, curl.sample],
    [t.steps.delivery, <DeliveryStep event={event} latest={latest} />, curl.delivery],
  ] as const;
  const isAwaited = latest?.estado === 'pendente' && now - Date.parse(latest.criado_em) < 120_000;
  return {
    title: t.nav.firstSteps,
    lead: t.steps.lead,
    ...(isAwaited && { renewSeconds: 2 }),
    content: (
      <ol class="steps">
        {steps.map(([name, content, command], at) => (
          <Step number={at + 1} name={name} isDone={done[at] === true} command={command}>
            {content}
          </Step>
        ))}
      </ol>
    ),
  };
};

/** Sends a test: only internal services publish events. */
export const sendSample: Handler = async ({ api, t }, _, form) => {
  const event = form.get('event') ?? '';
  await api.test(event);
  return { to: `/first-steps?${new URLSearchParams({ event })}`, notes: [{ kind: 'done', text: t.webhook.tested }] };
};

function Step(step: { number: number; name: string; isDone: boolean; command: string; children?: Child }) {
  const { t } = useView();
  const { number, name, isDone, command } = step;
  return (
    <li class="card">
      <div id={`step-${number}`} data-live>
        <header class={isDone ? 'done' : ''}>
          <h2>{name}</h2>
          {isDone && <span class="badge good">{t.steps.done}</span>}
        </header>
        <div class="inside">{step.children}</div>
      </div>
      <details class="inside">
        <summary>{t.steps.withCurl}</summary>
        <pre>{command}</pre>
        <CopyButton text={command} of={name} />
      </details>
    </li>
  );
}

function WebhookStep({ event, webhook }: { event: string; webhook: WebhookRecord | undefined }) {
  const { t } = useView();
  if (webhook)
    return (
      <p>
        {t.steps.goesTo(event)} <Code>{webhook.url}</Code>
      </p>
    );
  return (
    <>
      <p>{t.steps.aboutWebhook}</p>
      <Link to={`/register?${new URLSearchParams({ evento: event, back: 'first-steps' })}`} kind="button main">
        {t.webhooks.register}
      </Link>
    </>
  );
}

function SampleStep(step: { event: string; webhook: WebhookRecord | undefined; latest: DeliveryRecord | undefined }) {
  const { t } = useView();
  const { event, webhook, latest } = step;
  if (!webhook) return <p class="muted">{t.steps.before(2)}</p>;
  return (
    <>
      <p>{t.steps.aboutSample}</p>
      {latest && (
        <p>
          <Time at={latest.criado_em} /> <Code>{latest.id}</Code>
        </p>
      )}
      <Button action="/first-steps/sample" kind={latest ? undefined : 'main'} fields={{ event }}>
        {t.webhook.test}
      </Button>
    </>
  );
}

function DeliveryStep({ event, latest }: { event: string; latest: DeliveryRecord | undefined }) {
  const { t } = useView();
  if (!latest) return <p class="muted">{t.steps.before(3)}</p>;
  const isDelivered = latest.estado === 'entregue';
  const isAwaited = latest.estado === 'pendente' && latest.tentativas === 0;
  const said = isDelivered ? t.steps.delivered : isAwaited ? t.steps.notYet : t.steps.failing;
  return (
    <>
      <p>
        <StateBadge state={latest.estado} /> {said}
      </p>
      <Link to={pathOf(event, latest.id)}>{t.steps.seeDelivery}</Link>
    </>
  );
}

/** Returns the commands of the steps, with placeholders for what only the integrator knows. */
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
