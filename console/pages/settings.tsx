import type { Child } from 'hono/jsx';
import type { WebhookRecord } from '../../lambdas/webhooks/representation.ts';
import { Refusal, SessionEnded, type Settings } from '../api.ts';
import { Alert, Facts, Form, Link, StateBadge } from '../components.tsx';
import { eventNames } from '../events.ts';
import { messageOf } from '../failures.ts';
import { iso } from '../filter.ts';
import type { Note } from '../sessions.ts';
import { countReplayable } from '../tally.ts';
import { type Handler, NotFound, type Page, partOf, pathOf, useView, type View } from '../view.ts';
import { countIn, isNone } from './replay.tsx';
import { oldSecretsOf } from './webhook.tsx';

/** The form that registers the webhook of one event, or with the event `*` of all events that have none. */
export const registerPage: Handler = async (view, _, values) => {
  const missing = await missingEvents(view);
  return missing.length === 0 ? { to: '/' } : formPage(view, missing, values);
};

/** Registers one webhook or all that are missing. Each secret is shown once, on the next page. */
export const register: Handler = async (view, _, values) => {
  const { api, t, session } = view;
  const asked = values.get('evento') ?? '';
  const missing = await missingEvents(view);
  const events = asked === '*' ? missing : [asked];
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
      if (notes.length === 0 && error instanceof Refusal) return formPage(view, missing, values, error);
      notes.push({ kind: 'failed', text: t.register.failed(event, messageOf(t, error)) });
      break;
    }
  }
  const back = values.get('back') === 'first-steps' ? '/first-steps' : '/';
  const to = asked === '*' || back !== '/' ? back : pathOf(asked);
  return { to, notes };
};

export const changePage: Handler = async ({ api, t }, { event }, values) => {
  const webhook = await existing(api, t, event);
  return changeForm(t, event, webhook.autorizacao_definida, values.get('url') ?? webhook.url);
};

/** Replaces URL and header. A header that is set has to be typed again or removed: it never goes to another URL unseen. */
export const change: Handler = async ({ api, t }, { event }, values) => {
  const webhook = await existing(api, t, event);
  const url = values.get('url') ?? '';
  const settings = settingsIn(values);
  const isUndecided = webhook.autorizacao_definida && !settings.autorizacao && !values.has('remove');
  try {
    // The API refuses an empty header, with all that is wrong with the URL.
    await api.change(event, isUndecided ? { ...settings, autorizacao: '' } : settings);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const findings = error.findings.map(({ field, detail }) => ({
      field,
      detail: isUndecided && field === 'autorizacao' ? t.change.typeOrRemove : detail,
    }));
    return changeForm(t, event, webhook.autorizacao_definida, url, Object.assign(error, { findings }));
  }
  return { to: pathOf(event), notes: [{ kind: 'done', text: t.change.done }] };
};

export const secretPage: Handler = async ({ api, t }, { event }) => {
  const webhook = await existing(api, t, event);
  const title = `${t.webhook.replaceSecret}: ${event}`;
  const choice = (value: string, text: string) => (
    <label class="choice">
      <input type="radio" name="immediate" value={value} checked={value === 'no'} /> {text}
    </label>
  );
  const content = (
    <Form action={`${pathOf(event)}/secret`} back={pathOf(event)} submit={t.webhook.replaceSecret}>
      <p>{t.secret.lead}</p>
      {webhook.segredos_anteriores.length > 0 && <Facts rows={oldSecretsOf(t, webhook)} />}
      <fieldset>
        <legend class="unseen">{title}</legend>
        {choice('no', t.secret.keep)}
        {choice('yes', t.secret.drop)}
      </fieldset>
    </Form>
  );
  return { title, crumbs: [event], content, renewSeconds: 0 };
};

export const replaceSecret: Handler = async ({ api }, { event }, values) => {
  const { segredo } = await api.replaceSecret(event, values.get('immediate') === 'yes');
  return { to: pathOf(event), notes: [{ kind: 'secret', event, secret: segredo }] };
};

/** Asks before a webhook is deleted, with the deliveries that are lost. */
export const removePage: Handler = async ({ api, t, now }, { event }) => {
  await existing(api, t, event);
  const title = t.remove.title(event);
  const range = { desde: iso(0), ate: iso(now) };
  const counted = await Promise.all(
    (['pendente', 'falhou', 'retida'] as const).map(async estado => {
      return [estado, await partOf(countReplayable(api, event, { ...range, estado }))] as const;
    }),
  );
  const lost = counted.filter(([, count]) => !isNone(count));
  const content = (
    <Form action={`${pathOf(event)}/delete`} back={pathOf(event)} submit={t.webhook.remove} kind="danger">
      <p>{t.remove.lead}</p>
      {lost.length > 0 && <p>{t.remove.losses}</p>}
      <Facts rows={lost.map(([state, count]) => [<StateBadge state={state} />, countIn(t, count)])} />
    </Form>
  );
  return { title, crumbs: [event], content, renewSeconds: 0 };
};

export const remove: Handler = async ({ api, t }, { event }) => {
  await api.remove(event);
  return { to: '/', notes: [{ kind: 'done', text: t.remove.done(event) }] };
};

async function existing(api: View['api'], t: View['t'], event: string): Promise<WebhookRecord> {
  const webhook = await api.findWebhook(event);
  if (!webhook) throw new NotFound(t.failures.noWebhook);
  return webhook;
}

async function missingEvents({ api }: View): Promise<readonly string[]> {
  const { webhooks } = await api.listWebhooks();
  return eventNames.filter(event => !webhooks.some(({ evento }) => evento === event));
}

function settingsIn(values: URLSearchParams): Settings {
  const autorizacao = values.has('remove') ? '' : (values.get('autorizacao') ?? '');
  return { url: values.get('url')?.trim() ?? '', ...(autorizacao !== '' && { autorizacao }) };
}

function formPage({ t }: View, missing: readonly string[], values: URLSearchParams, trouble?: Refusal): Page {
  const asked = values.get('evento') ?? missing[0] ?? '';
  const offered = asked === '*' || missing.includes(asked) ? missing : [asked, ...missing];
  const back = values.get('back') ?? '';
  const content = (
    <>
      <TroubleNote trouble={trouble} event={asked} />
      <Form
        action="/register"
        submit={t.webhooks.register}
        fields={{ back }}
        back={back === 'first-steps' ? '/first-steps' : '/'}
      >
        <Field name="evento" label={t.webhooks.event} trouble={trouble}>
          {attributes => (
            <select name="evento" {...attributes}>
              {missing.length > 1 && (
                <option value="*" selected={asked === '*'}>
                  {t.register.all(missing.length)}
                </option>
              )}
              {offered.filter(Boolean).map(event => (
                <option value={event} selected={event === asked}>
                  {event}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Inputs url={values.get('url') ?? ''} hint={t.register.aboutAuthorization} trouble={trouble} />
      </Form>
    </>
  );
  const { title, lead } = t.register;
  return { title, lead, crumbs: [], content, renewSeconds: 0, ...(trouble && { status: 422 }) };
}

function changeForm(t: View['t'], event: string, isSet: boolean, url: string, trouble?: Refusal): Page {
  const content = (
    <>
      <TroubleNote trouble={trouble} />
      <Form action={`${pathOf(event)}/change`} submit={t.change.submit} back={pathOf(event)}>
        <Inputs url={url} hint={isSet ? t.change.authorizationSet : t.register.aboutAuthorization} trouble={trouble} />
        {isSet && (
          <label class="choice">
            <input type="checkbox" name="remove" value="yes" /> {t.change.remove}
          </label>
        )}
      </Form>
    </>
  );
  const title = `${t.webhook.change} ${event}`;
  return { title, lead: t.change.lead, crumbs: [event], content, renewSeconds: 0, ...(trouble && { status: 422 }) };
}

/** Writes why a form failed, with the findings that belong to no field of it. */
function TroubleNote({ trouble, event }: { trouble: Refusal | undefined; event?: string }) {
  const { t } = useView();
  if (!trouble) return null;
  if (trouble.findings.some(({ field }) => ['evento', 'url', 'autorizacao'].includes(field)))
    return <Alert>{t.register.nothingChanged}</Alert>;
  return (
    <Alert>
      {messageOf(t, trouble)}
      {trouble.code === 'webhook_exists' && event && <Link to={pathOf(event)}> {t.register.open(event)}</Link>}
    </Alert>
  );
}

function Inputs({ url, hint, trouble }: { url: string; hint: string; trouble: Refusal | undefined }) {
  const { t } = useView();
  const input = { autocomplete: 'new-password', spellcheck: false };
  return (
    <>
      <Field name="url" label="URL" hint={t.register.aboutUrl} trouble={trouble}>
        {attributes => <input name="url" type="url" value={url} {...input} {...attributes} />}
      </Field>
      <Field name="autorizacao" label={t.webhook.authorization} hint={hint} trouble={trouble}>
        {attributes => <input name="autorizacao" type="password" {...input} {...attributes} />}
      </Field>
    </>
  );
}

/** Writes a field with its hint, and all that is wrong with it. */
function Field(field: {
  /** Its name in the API. */
  name: string;
  label: string;
  hint?: string;
  trouble: Refusal | undefined;
  children: (attributes: Readonly<Record<string, string | undefined>>) => Child;
}) {
  const { name, label, hint, trouble } = field;
  const wrong = trouble?.findings.filter(finding => finding.field === name) ?? [];
  const ids = [hint && `${name}-hint`, wrong.length > 0 && `${name}-wrong`].filter(Boolean).join(' ');
  const attributes = {
    id: name,
    'aria-describedby': ids || undefined,
    'aria-invalid': wrong.length > 0 ? 'true' : undefined,
  };
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {field.children(attributes)}
      {hint && (
        <p class="muted" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {wrong.length > 0 && (
        <p class="bad-text" id={`${name}-wrong`}>
          {wrong.map(({ detail }) => detail).join(' ')}
        </p>
      )}
    </div>
  );
}
