import { createHash } from 'node:crypto';
import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { Credentials } from './api.ts';
import { Alert, Button, Code, CopyButton, Link, Time, Verification } from './components.tsx';
import { script } from './script.ts';
import type { Note } from './sessions.ts';
import { style } from './style.ts';
import type { Texts } from './texts/en.ts';
import type { Language } from './texts/texts.ts';
import { type Page, pathOf, useView, type View, ViewContext } from './view.ts';

export function Document({ page, view }: { page: Page; view: View }) {
  const { t, language } = view;
  const seconds = page.refreshSeconds ?? (page.status === undefined ? view.refreshSeconds : 0);
  return (
    <ViewContext.Provider value={view}>
      <Html title={`${page.title} · Emissor`} language={language} refreshSeconds={seconds}>
        <a class="skip" href="#content">
          {t.frame.skip}
        </a>
        <Header />
        <p id="banner" class="banner" role="alert" hidden>
          {t.frame.notRefreshed}
        </p>
        <main id="content" tabindex={-1}>
          <Notes notes={view.notes} />
          {page.crumbs && (
            <nav class="crumbs" aria-label={t.nav.webhooks}>
              <Link to="/">{t.nav.webhooks}</Link>
              {page.crumbs.map(event => [' / ', <Link to={pathOf(event)}>{event}</Link>])}
            </nav>
          )}
          <div class="heading">
            <h1 id="heading" data-live>
              {page.heading ?? page.title}
            </h1>
            {page.actions && (
              <div class="actions" id="actions" data-live>
                {page.actions}
              </div>
            )}
          </div>
          {page.lead && <p class="lead">{page.lead}</p>}
          {page.content}
        </main>
        <footer>
          {t.frame.readAt} <Time at={new Date(view.now).toISOString()} form="clock" />{' '}
          {t.frame.readFrom(new URL(view.service.baseUrl).host)}. {!view.canManage && t.frame.readOnly}
        </footer>
      </Html>
    </ViewContext.Provider>
  );
}

export function SignIn(entry: {
  readonly t: Texts;
  readonly language: Language;
  readonly folder: string;
  readonly returnPath: string;
  readonly host: string;
  readonly error: string | undefined;
  readonly prefilled: Credentials | undefined;
  readonly hasLink: boolean;
}) {
  const { t, language, folder, returnPath, host, error, prefilled, hasLink } = entry;
  // A field without a value is a secret, which the page never prefills.
  const form = (action: string, title: string, about: string, fields: Readonly<Record<string, string | undefined>>) => (
    <form id={action} class="card inside" method="post" action={`${folder}/${action}`}>
      <input type="hidden" name="return_to" value={returnPath} />
      <h2>{title}</h2>
      <p class="muted">{about}</p>
      {Object.entries(fields).map(([name, value]) => (
        <div class="field">
          <label for={name}>
            <code>{name}</code>
          </label>
          <input
            id={name}
            name={name}
            type={value === undefined ? 'password' : 'text'}
            value={value}
            required
            spellcheck={false}
          />
        </div>
      ))}
      <button class="main">{t.entry.signIn}</button>
    </form>
  );
  return (
    <Html title={t.entry.title} language={language} refreshSeconds={0}>
      <main id="content" class="entry">
        <OtherLanguage t={t} language={language} back={folder + returnPath} />
        <h1>{t.entry.title}</h1>
        <p class="lead">{t.entry.lead(host)}</p>
        {error && <Alert>{error}</Alert>}
        {hasLink && form('link', t.entry.byLink, t.entry.aboutLink, { token: undefined })}
        {form('sign-in', t.entry.byCredentials, t.entry.aboutCredentials, {
          client_id: prefilled?.client_id ?? '',
          client_secret: undefined,
          username: prefilled?.username ?? '',
          password: undefined,
        })}
      </main>
    </Html>
  );
}

function OtherLanguage({ t, language, back }: { t: Texts; language: Language; back: string }) {
  const [to, lang] = language === 'pt' ? ['en', 'en'] : ['pt', 'pt-BR'];
  return (
    <a class="other-language" lang={lang} href={`/language?to=${to}&back=${encodeURIComponent(back)}`}>
      {t.frame.otherLanguage}
    </a>
  );
}

function Html(page: { title: string; language: Language; refreshSeconds: number; children?: Child }) {
  return (
    <html lang={page.language === 'pt' ? 'pt-BR' : 'en'}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>{page.title}</title>
        <link rel="icon" href="data:," />
        <style>{raw(style)}</style>
      </head>
      <body data-refresh={String(page.refreshSeconds)}>
        {page.children}
        <script>{raw(script)}</script>
      </body>
    </html>
  );
}

function Header() {
  const { t, folder, path, language, claims } = useView();
  const isFirstStepsPage = path.startsWith('/first-steps');
  return (
    <header class="top">
      <div class="bar">
        <a class="brand" href={`${folder}/`}>
          Emissor
        </a>
        <nav aria-label="Emissor">
          {Object.entries({ '/': t.nav.webhooks, '/first-steps': t.nav.firstSteps }).map(([to, name]) => (
            <a href={folder + to} aria-current={isFirstStepsPage === (to !== '/') ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <div class="tools">
          <span class="account">
            <span class="wide-only">{t.frame.account} </span>
            <Code>{String(claims.account_id)}</Code>
          </span>
          <OtherLanguage t={t} language={language} back={folder + path} />
          <Button action="/sign-out" kind="quiet">
            {t.frame.signOut}
          </Button>
        </div>
      </div>
    </header>
  );
}

function Notes({ notes }: { notes: readonly Note[] }) {
  const { t } = useView();
  const secrets = notes.filter(note => note.kind === 'secret');
  const lines = secrets.map(({ event, secret }) => `${event}=${secret}`);
  return (
    <>
      {notes.map(
        note =>
          note.kind !== 'secret' && (
            <p class={`note ${note.kind}`} role={note.kind === 'failed' ? 'alert' : 'status'}>
              {note.text}
            </p>
          ),
      )}
      {secrets.length > 0 && (
        <section class="note secret" role="status">
          <h2>{t.secret.once(secrets.length)}</h2>
          <dl>
            {secrets.map(({ event, secret }) => (
              <div>
                <dt>{event}</dt>
                <dd>
                  <code class="secret-value">{secret}</code>{' '}
                  <CopyButton text={secret} of={event} kind={secrets.length > 1 ? 'quiet' : 'main'} />
                </dd>
              </div>
            ))}
          </dl>
          {secrets.length > 1 && (
            <p>
              <CopyButton text={lines.join('\n')} of={t.secret.all} kind="main" /> {t.secret.all}
            </p>
          )}
          <p class="muted">{t.secret.use}</p>
          <Verification />
        </section>
      )}
    </>
  );
}

export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src '${hashOf(style)}'`,
  `script-src '${hashOf(script)}'`,
  "connect-src 'self'",
  "form-action 'self'",
  'img-src data:',
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
