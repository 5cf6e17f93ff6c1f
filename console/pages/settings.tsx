import type { WebhookRecord } from '../../lambdas/webhooks/representation.ts';
import { ApiError, SessionEnded, type Settings } from '../api.ts';
import { Alert, Code, Facts, Form, Link, StateBadge } from '../components.tsx';
import { countReplayable } from '../count-deliveries.ts';
import { eventNames } from '../events.ts';
import { messageOf } from '../failures.ts';
import { iso } from '../filter.ts';
import type { Note } from '../sessions.ts';
import { type Handler, isLocal, NotFound, type Page, partOf, pathOf, useView, type View } from '../view.ts';
import { countText, isEmptyCount } from './replay.tsx';
import { oldSecretsOf, reactivated } from './webhook.tsx';

export const registerPage: Handler = async (view, _, values) => {
  const missing = await missingEvents(view);
  return missing.length === 0 ? { to: '/' } : formPage(view, missing, values);
};

export const register: Handler = async (view, _, values) => {
  const { api, t, session } = view;
  const requested = values.get('evento') ?? '';
  const missing = await missingEvents(view);
  const events = requested === '*' ? missing : [requested];
  const notes: Note[] = [];
  for (const event of events) {
    try {
      const { segredo } = await api.register(event, settingsIn(values));
      notes.push({ kind: 'secret', event, secret: segredo });
    } catch (error) {
      if (error instanceof SessionEnded) {
        session.notes.push(...notes); // shown after the next sign-in
        throw error;
      }
      if (notes.length === 0 && error instanceof ApiError) return formPage(view, missing, values, error);
      notes.push({ kind: 'failed', text: t.register.failed(event, messageOf(t, error, true)) });
      break;
    }
  }
  const count = notes.filter(({ kind }) => kind === 'secret').length;
  if (count > 0) notes.unshift({ kind: 'done', text: t.register.done(count) });
  const back = values.get('back') === 'first-steps' ? '/first-steps' : '/';
  const to = requested === '*' || back !== '/' ? back : pathOf(requested);
  return { to, notes };
};

export const changePage: Handler = async ({ api, t }, { event }, values) => {
  const webhook = await requireWebhook(api, t, event);
  return changeForm(t, webhook, values.get('url') ?? webhook.url);
};

/** Replaces the URL and the header. The user must retype or remove an existing header, so that no new URL receives it by mistake. */
export const change: Handler = async ({ api, t }, { event }, values) => {
  const webhook = await requireWebhook(api, t, event);
  const url = values.get('url') ?? '';
  const settings = settingsIn(values);
  const isUndecided = webhook.autorizacao_definida && !settings.autorizacao && values.get('remove') !== 'yes';
  try {
    // The API rejects the empty header, and reports all problems with the URL in the same response.
    const changed = await api.change(event, isUndecided ? { ...settings, autorizacao: '' } : settings);
    if (webhook.estado === 'suspenso' && changed.estado === 'ativo') return reactivated(t, event);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const findings = error.findings.map(({ field, detail }) => ({
      field,
      detail: isUndecided && field === 'autorizacao' ? t.change.typeOrRemove : detail,
    }));
    return changeForm(t, webhook, url, Object.assign(error, { findings }));
  }
  return { to: pathOf(event), notes: [{ kind: 'done', text: t.change.done }] };
};

export const secretPage: Handler = async ({ api, t }, { event }) => {
  const webhook = await requireWebhook(api, t, event);
  const title = `${t.webhook.replaceSecret}: ${event}`;
  const content = (
    <Form action={`${pathOf(event)}/secret`} back={pathOf(event)} submit={t.webhook.replaceSecret}>
      {webhook.segredos_anteriores.length > 0 && <Facts rows={oldSecretsOf(t, webhook)} />}
      <Choice name="immediate" of={title} no={t.secret.keep} yes={t.secret.drop} />
    </Form>
  );
  return { title, crumbs: [event], content, refreshSeconds: 0 };
};

export const replaceSecret: Handler = async ({ api, t }, { event }, values) => {
  const isImmediate = values.get('immediate') === 'yes';
  const { segredo } = await api.replaceSecret(event, isImmediate);
  const done = { kind: 'done', text: isImmediate ? t.secret.drop : t.secret.keep } as const;
  return { to: pathOf(event), notes: [done, { kind: 'secret', event, secret: segredo }] };
};

export const removePage: Handler = async ({ api, t, now }, { event }) => {
  const { url } = await requireWebhook(api, t, event);
  const range = { desde: iso(0), ate: iso(now) };
  const counted = await Promise.all(
    (['pendente', 'falhou', 'retida'] as const).map(async estado => {
      return [estado, await partOf(countReplayable(api, event, { ...range, estado }))] as const;
    }),
  );
  const undelivered = counted.filter(([, count]) => !isEmptyCount(count));
  const content = (
    <Form action={`${pathOf(event)}/delete`} back={pathOf(event)} submit={t.remove.submit} kind="danger">
      <p>{t.remove.lead}</p>
      {undelivered.length > 0 && (
        <p>
          {t.remove.losses}
          {undelivered.map(([state, count]) => [' ', <StateBadge state={state} />, ' ', countText(t, count)])}
        </p>
      )}
      <Facts rows={[[t.webhooks.receiver, <Code>{url}</Code>]]} />
    </Form>
  );
  return { title: t.remove.title(event), crumbs: [event], content, refreshSeconds: 0 };
};

export const remove: Handler = async ({ api, t }, { event }) => {
  await api.remove(event);
  return { to: '/', notes: [{ kind: 'done', text: t.remove.done(event) }] };
};

async function requireWebhook(api: View['api'], t: View['t'], event: string): Promise<WebhookRecord> {
  const webhook = await api.findWebhook(event);
  if (!webhook) throw new NotFound(t.failures.noWebhook);
  return webhook;
}

async function missingEvents({ api }: View): Promise<readonly string[]> {
  const { webhooks } = await api.listWebhooks();
  return eventNames.filter(event => !webhooks.some(({ evento }) => evento === event));
}

function settingsIn(values: URLSearchParams): Settings {
  const autorizacao = values.get('remove') === 'yes' ? '' : (values.get('autorizacao') ?? '');
  return { url: values.get('url')?.trim() ?? '', ...(autorizacao !== '' && { autorizacao }) };
}

function formPage({ t, service }: View, missing: readonly string[], values: URLSearchParams, error?: ApiError): Page {
  const requested = values.get('evento') ?? missing[0] ?? '';
  const back = values.get('back') ?? '';
  const all = requested === '*' ? t.register.all(missing.length) : undefined;
  const url = values.get('url') ?? (isLocal(service) ? 'https://receiver.example.com/hooks' : '');
  const content = (
    <>
      <ErrorAlert error={error} event={requested} />
      <Form
        action="/register"
        submit={all ?? t.webhooks.register}
        fields={{ back, evento: requested }}
        back={back === 'first-steps' ? '/first-steps' : '/'}
      >
        <p>{all ? missing.join(', ') : requested}</p>
        <Inputs url={url} hint={t.register.aboutAuthorization} error={error} />
      </Form>
    </>
  );
  const { title, lead } = t.register;
  return { title: all ?? title, lead, crumbs: [], content, refreshSeconds: 0, ...(error && { status: 422 }) };
}

function changeForm(t: View['t'], webhook: WebhookRecord, url: string, error?: ApiError): Page {
  const { evento: event, autorizacao_definida: isSet, estado, motivo_suspensao } = webhook;
  const content = (
    <>
      <ErrorAlert error={error} />
      <Form action={`${pathOf(event)}/change`} submit={t.change.submit} back={pathOf(event)}>
        {estado === 'suspenso' && motivo_suspensao !== 'operador' && <p>{t.change.reactivates}</p>}
        <Inputs url={url} hint={isSet ? t.change.authorizationSet : t.register.aboutAuthorization} error={error} />
        {isSet && <Choice name="remove" of={t.webhook.authorization} no={t.change.send} yes={t.change.remove} />}
      </Form>
    </>
  );
  const title = `${t.webhook.change} ${event}`;
  return { title, lead: t.change.lead, crumbs: [event], content, refreshSeconds: 0, ...(error && { status: 422 }) };
}

function Choice({ name, of, ...texts }: { name: string; of: string; no: string; yes: string }) {
  return (
    <fieldset>
      <legend class="unseen">{of}</legend>
      {Object.entries(texts).map(([value, text]) => (
        <label class="choice">
          <input type="radio" name={name} value={value} checked={value === 'no'} /> {text}
        </label>
      ))}
    </fieldset>
  );
}

function ErrorAlert({ error, event }: { error: ApiError | undefined; event?: string }) {
  const { t } = useView();
  if (!error) return null;
  if (error.findings.some(({ field }) => ['url', 'autorizacao'].includes(field)))
    return <Alert>{t.register.nothingChanged}</Alert>;
  return (
    <Alert>
      {messageOf(t, error)}
      {error.code === 'webhook_exists' && event && <Link to={pathOf(event)}> {t.register.open(event)}</Link>}
    </Alert>
  );
}

function Inputs({ url, hint, error }: { url: string; hint: string; error: ApiError | undefined }) {
  const { t } = useView();
  const fields = [
    ['url', 'URL', t.register.aboutUrl, { type: 'url', value: url }],
    ['autorizacao', t.webhook.authorization, hint, { type: 'password' }],
  ] as const;
  return fields.map(([name, label, help, attributes]) => {
    const problems = error?.findings.filter(({ field }) => field === name).map(({ detail }) => detail) ?? [];
    const [isInvalid, about] = [problems.length > 0, `${name}-about`];
    const aria = { 'aria-describedby': about, 'aria-invalid': isInvalid ? 'true' : undefined };
    return (
      <div class="field">
        <label for={name}>{label}</label>
        <input id={name} name={name} {...attributes} autocomplete="new-password" spellcheck={false} {...aria} />
        <p class={isInvalid ? 'bad-text' : 'muted'} id={about}>
          {isInvalid ? problems.join(' ') : help}
        </p>
      </div>
    );
  });
}
