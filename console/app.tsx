import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import {
  type Credentials,
  claimsOf,
  createApi,
  type Login,
  revoke,
  type Service,
  SessionEnded,
  signIn,
} from './api.ts';
import { messageOf, statusOf } from './failures.ts';
import { contentSecurityPolicy, Document, SignIn } from './layout.tsx';
import { failurePage } from './pages/failure.tsx';
import { actions, pages } from './pages/pages.ts';
import { keyOf, maxIdle, randomId, type Session, type SessionStore } from './sessions.ts';
import { type Language, preferredLanguage, texts } from './texts/texts.ts';
import { type Handler, isLocal, NotFound, type Page, type Redirect, type View } from './view.ts';

export interface ConsoleOptions {
  readonly service: Service;
  readonly store: SessionStore;
  /** The only accepted `Host` header, because any site can point its own name at 127.0.0.1 (DNS rebinding). */
  readonly host: string;
  /** The credentials behind sign-in links. Without them, users can sign in only with the form. */
  readonly credentials?: Credentials;
  readonly now: () => number;
}

/** Creates a console under a random path, because browsers send cookies for `/` to the servers on all ports of 127.0.0.1. */
export function createConsole(options: ConsoleOptions) {
  const { service, store, host, credentials, now } = options;
  const folder = `/${randomId().slice(0, 22)}`;
  const links = new Map<string, number>();
  const refreshes = new WeakMap<Login, Promise<void>>();
  const app = new Hono();

  app.use(bodyLimit({ maxSize: 64 * 1_024, onError: context => context.text('Content Too Large\n', 413) }));
  app.use(async (context, next) => {
    const url = new URL(context.req.url);
    if (url.host !== host) return context.text('Misdirected Request\n', 421);
    for (const [name, value] of Object.entries(securityHeaders)) context.header(name, value);
    const isPost = context.req.method === 'POST';
    if (isPost && context.req.header('origin') !== url.origin) return entry(context, 403, t => t.entry.otherSite);
    return next();
  });

  app.get('/', context => entry(context, 200));
  app.get(folder, context => context.redirect(`${folder}/`, 303));
  // Forms below the folder also send the cookie of the ended session, so the next session can show its notes.
  for (const prefix of ['', folder]) {
    app.post(`${prefix}/link`, async context => {
      const key = keyOf((await formOf(context)).get('token')?.trim() ?? '');
      const createdAt = links.get(key);
      if (createdAt === undefined || !credentials || now() - createdAt > maxIdle)
        return entry(context, 403, t => t.entry.usedLink);
      links.delete(key);
      return open(context, credentials, true);
    });
    app.post(`${prefix}/sign-in`, async context => {
      const form = await formOf(context);
      const field = (name: string) => form.get(name)?.trim() ?? '';
      const [client_id, client_secret, username] = [field('client_id'), field('client_secret'), field('username')];
      return open(context, { client_id, client_secret, username, password: form.get('password') ?? '' }, false);
    });
  }
  app.get('/language', context => {
    const to = context.req.query('to') === 'pt' ? 'pt' : 'en';
    setCookie(context, 'emissor_language', to, { path: '/', sameSite: 'Strict' });
    return context.redirect(ownUrl(context.req.query('back') ?? '/'), 303);
  });
  app.post(`${folder}/sign-out`, async context => {
    const record = await sessionOf(context);
    if (record) {
      await store.remove(record.key);
      await revoke(service, record.session.login).catch(() => undefined); // the tokens expire anyway
    }
    deleteCookie(context, cookieName, { path: folder });
    return context.redirect('/', 303);
  });
  for (const [path, handler] of Object.entries(pages)) app.get(folder + path, context => show(context, handler));
  for (const [path, handler] of Object.entries(actions)) app.post(folder + path, context => act(context, handler));
  app.notFound(context => {
    if (!context.req.path.startsWith(`${folder}/`)) return entry(context, 404, t => t.entry.noSession);
    return show(context, async view => Promise.reject(new NotFound(view.t.failures.noPage)));
  });
  app.onError((error, context) => {
    console.error(error);
    return context.text('Internal Server Error\n', 500);
  });
  return { fetch: app.fetch, makeLink };

  function makeLink(): string {
    const id = randomId();
    for (const [key, createdAt] of links) if (now() - createdAt > maxIdle) links.delete(key);
    links.set(keyOf(id), now());
    return `http://${host}/#${id}`;
  }

  async function open(context: Context, userCredentials: Credentials, byLink: boolean): Promise<Response> {
    try {
      const id = randomId();
      const login = await signIn(service, userCredentials);
      const oldKey = keyOf(getCookie(context, cookieName) ?? '');
      const oldSession = await store.load(oldKey);
      await store.remove(oldKey);
      const { notes, replays } =
        oldSession && claimsOf(oldSession.login).sub === claimsOf(login).sub ? oldSession : { notes: [], replays: {} };
      await save(keyOf(id), { login, byLink, formToken: randomId(), usedAt: now(), hasEnded: false, notes, replays });
      setCookie(context, cookieName, id, { path: folder, httpOnly: true, sameSite: 'Strict' });
      return context.redirect(ownUrl(folder + (await returnPathOf(context))), 303);
    } catch (error) {
      return entry(context, statusOf(error), t => messageOf(t, error), byLink ? undefined : userCredentials);
    }
  }

  function save(key: string, session: Session): Promise<void> {
    return store.save(key, session, session.usedAt + maxIdle - now());
  }

  /** Returns the URL of a console page, or `/` for a path to another site, such as `//other`. */
  function ownUrl(path: string): string {
    const base = `http://${host}`;
    const url = URL.canParse(path, base) ? new URL(path, base) : undefined;
    return url?.origin === base ? url.href : '/';
  }

  async function sessionOf(context: Context): Promise<{ key: string; session: Session } | undefined> {
    const key = keyOf(getCookie(context, cookieName) ?? '');
    const session = await store.load(key);
    return session && !session.hasEnded && now() - session.usedAt < maxIdle ? { key, session } : undefined;
  }

  async function show(context: Context, handler: Handler): Promise<Response> {
    const record = await sessionOf(context);
    if (!record) return entry(context, 401, t => t.entry.noSession);
    const { key, session } = record;
    const isRefresh = context.req.header('x-refresh') !== undefined;
    if (!isRefresh) session.usedAt = now(); // automatic refreshes do not extend the session
    const notes = isRefresh ? [] : session.notes.splice(0);
    return respond(context, key, session, notes, view => handler(view, parametersOf(context), view.query));
  }

  async function act(context: Context, handler: Handler): Promise<Response> {
    const record = await sessionOf(context);
    if (!record) return entry(context, 401, t => t.entry.noSession);
    const { key, session } = record;
    const form = await formOf(context);
    if (keyOf(form.get('form_token') ?? '') !== keyOf(session.formToken))
      return entry(context, 403, t => t.entry.otherSite);
    session.usedAt = now();
    return respond(context, key, session, [], async view => {
      try {
        return await handler(view, parametersOf(context), form);
      } catch (error) {
        if (error instanceof SessionEnded) throw error;
        return { to: parentOf(view.path), notes: [{ kind: 'failed', text: messageOf(view.t, error, true) }] };
      }
    });
  }

  async function respond(
    context: Context,
    key: string,
    session: Session,
    notes: View['notes'],
    handle: (view: View) => Promise<Page | Redirect>,
  ): Promise<Response> {
    let view = viewOf(context, session, notes);
    let result: Page | Redirect;
    try {
      result = await handle(view).catch(async error => {
        if (!(error instanceof SessionEnded && credentials && session.byLink)) throw error;
        Object.assign(session.login, await signIn(service, credentials));
        view = viewOf(context, session, notes);
        return handle(view);
      });
    } catch (error) {
      if (error instanceof SessionEnded) {
        session.hasEnded = true;
        session.notes.unshift(...notes); // the next session of the same user shows these notes
        await save(key, session);
        return entry(context, 401, t => t.entry.noSession);
      }
      result = failurePage(view, error, parametersOf(context));
    }
    if ('to' in result) session.notes.push(...notes, ...(result.notes ?? []));
    if (await store.load(key)) await save(key, session); // unless another tab has signed out
    if ('to' in result) return context.redirect(folder + result.to, 303);
    return html(context, result.status ?? 200, <Document page={result} view={view} />);
  }

  function viewOf(context: Context, session: Session, notes: View['notes']): View {
    const [language, url] = [languageOf(context), new URL(context.req.url)];
    const claims = claimsOf(session.login);
    return {
      api: createApi(service, session.login, { language, refreshes }),
      service,
      session,
      claims,
      canManage: String(claims.scope).split(' ').includes('webhooks:manage'),
      language,
      t: texts[language],
      folder,
      path: url.pathname.slice(folder.length) + url.search,
      query: url.searchParams,
      now: now(),
      notes,
      refreshSeconds: isLocal(service) ? 5 : 60,
    };
  }

  async function entry(
    context: Context,
    status: number,
    reason?: (t: (typeof texts)['en']) => string,
    prefilled?: Credentials,
  ): Promise<Response> {
    const language = languageOf(context);
    const t = texts[language];
    return html(
      context,
      status,
      <SignIn
        t={t}
        language={language}
        folder={context.req.path.startsWith(`${folder}/`) ? folder : ''}
        returnPath={await returnPathOf(context)}
        host={new URL(service.baseUrl).host}
        error={reason?.(t)}
        prefilled={prefilled}
        hasLink={credentials !== undefined}
      />,
    );
  }
}

const cookieName = 'emissor_console';

const securityHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin', // with no-referrer, browsers send "Origin: null" with forms
  'X-Content-Type-Options': 'nosniff',
};

function html(context: Context, status: number, document: Child): Response | Promise<Response> {
  return context.html(`<!doctype html>${document}`, status as ContentfulStatusCode);
}

function languageOf(context: Context): Language {
  const chosen = getCookie(context, 'emissor_language');
  return chosen === 'pt' || chosen === 'en' ? chosen : preferredLanguage(context.req.header('accept-language'));
}

function parametersOf(context: Context) {
  return { event: context.req.param('event') ?? '', id: context.req.param('id') ?? '' };
}

/** Returns the path to open after sign-in. It is relative to the folder, which changes when the console restarts. */
async function returnPathOf(context: Context): Promise<string> {
  const { pathname, search } = new URL(context.req.url);
  const relative = /^\/[\w-]{22}(\/.*)$/.exec(pathname)?.[1] ?? '/';
  if (context.req.method !== 'POST') return relative + (relative === '/' ? '' : search);
  return (await formOf(context)).get('return_to') ?? parentOf(relative);
}

function parentOf(path: string): string {
  return path.replace(/\/[^/]*$/, '') || '/';
}

async function formOf(context: Context): Promise<URLSearchParams> {
  return new URLSearchParams(await context.req.text());
}
