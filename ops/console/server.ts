import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../../lambdas/platform/clock.ts';
import { type Access, makeAccess, type Session } from './access.ts';
import type { Source } from './api-source.ts';
import { html } from './html.ts';
import { onceName } from './once.ts';
import { type Answer, type Context, contentSecurityPolicy, documentOf, entryDocument, type Page } from './page.ts';
import { errorPage, type Failure, failureOf } from './page-parts.ts';
import { answerPage } from './pages/pages.ts';
import { type Language, languageOf, sayingIn, textsOf } from './texts.ts';

/** A console that runs. */
export type Console = Awaited<ReturnType<typeof startConsole>>;

/**
 * Serves the pages of a source on 127.0.0.1, until it is stopped.
 *
 * @param sourceIn - makes the source whose messages are in a language.
 * @param port - 0 for any that is free.
 * @throws the error of `listen`, where the port is taken.
 */
export async function startConsole(sourceIn: (language: Language) => Source, port: number, now: Clock = systemClock) {
  const access = makeAccess(now);
  const server = createServer((request, response) => {
    respond({ sourceIn, access, port: portOf(server), now }, request, response).catch(error => {
      if (response.headersSent) return void response.destroy();
      send(response, 500, `Internal Server Error: ${error instanceof Error ? error.message : error}\n`, 'text/plain');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${portOf(server)}/`;
  return {
    /** Without a token: nobody gets in by it alone. */
    url,
    /** Makes a link that opens the console once. */
    makeLink: () => `${url}#${access.makeToken()}`,
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Says why a port cannot be had, with what to do; `undefined` for another failure. */
export function describePort(error: unknown, port: number): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const why = code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not allowed by the system' : undefined;
  return why && `port ${port} ${why}: name another with --port, or leave it out for any that is free.`;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

interface Served {
  readonly sourceIn: (language: Language) => Source;
  readonly access: Access;
  readonly port: number;
  readonly now: Clock;
}

async function respond(served: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { sourceIn, access, port, now } = served;
  const { cookie = '', origin } = request.headers;
  const language = chosenLanguage(cookie) ?? languageOf(request.headers['accept-language']);
  const texts = textsOf(language);
  // Of two names the one is judged and the other believed (RFC 9112, 3.2).
  const [host = '', ...others] = request.headersDistinct.host ?? [];
  if (others.length > 0) return send(response, 400, 'Bad Request\n', 'text/plain');
  // Names that a stranger's DNS leads here, and other servers' pages, are other hosts.
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
    return send(response, 421, 'Misdirected Request\n', 'text/plain');
  const [target = '', base] = [request.url, `http://${host}`];
  const url = URL.canParse(target, base) ? new URL(target, base) : undefined; // Node 20.3 has no `URL.parse`
  if (url?.host !== host) return send(response, 400, 'Bad Request\n', 'text/plain');
  const isChange = request.method === 'POST';
  if (!isChange && request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD, POST');
    return send(response, 405, 'Method Not Allowed\n', 'text/plain');
  }
  // Another port of this machine is the same site, and its forms send the cookie: only the origin tells them apart.
  if (isChange && origin !== `http://${host}`)
    return send(response, 403, entryDocument(texts, language, texts.otherSite));
  if (url.pathname === '/') {
    if (!isChange) return send(response, 200, entryDocument(texts, language));
    const session = access.redeem((await readForm(request))?.get('token')?.trim() ?? '');
    if (session === undefined) return send(response, 403, entryDocument(texts, language, texts.usedToken));
    response.setHeader('Set-Cookie', session);
    return redirect(response, `${access.folder}/`);
  }
  if (!url.pathname.startsWith(`${access.folder}/`)) {
    const isOfAnother = /^\/[\w-]{22}\//.test(url.pathname);
    return send(response, 404, entryDocument(texts, language, isOfAnother ? texts.restarted : texts.notFound));
  }
  const isRenewal = request.headers['x-renewal'] !== undefined;
  const session = access.sessionOf(cookie, isRenewal);
  if (!session) return send(response, 401, entryDocument(texts, language, texts.noSession));
  if (isRenewal && request.method === 'HEAD') return send(response, 200, '', 'text/plain'); // asks for the session alone

  const path = url.pathname.slice(access.folder.length);
  if (path === '/language') {
    const to = url.searchParams.get('to') === 'pt' ? 'pt' : 'en';
    response.setHeader('Set-Cookie', `${languageCookie}=${to}; Path=${access.folder}/; SameSite=Strict`);
    return redirect(response, access.folder + ownPath(url.searchParams.get('back')));
  }
  if (path === '/sign-out' && isChange) {
    response.setHeader('Set-Cookie', access.signOut(cookie));
    return redirect(response, '/');
  }
  const context: Context = {
    source: sourceIn(language),
    language,
    texts,
    say: sayingIn(language),
    folder: access.folder,
    path: `${path}${url.search}`,
    query: url.searchParams,
    now: now(),
    // A page that renews itself, or is opened in another tab, is not the one that was waited for.
    note: isRenewal || session.note?.at !== `${path}${url.search}` ? undefined : session.note.says,
    isChange,
  };
  const form = isChange ? await readForm(request) : null;
  const mark = form?.get(onceName);
  const answer = mark
    ? ((await session.once.act(mark, () => answerOf(context, form))) ?? sentAnswer(context, mark, session.note))
    : await answerOf(context, form);
  if ('location' in answer) {
    const says = answer.note ?? context.note; // one that leads on takes along what it was to say
    if (says !== undefined)
      session.note = { at: placeOf(answer.location, host), says, mark: mark ?? session.note?.mark };
    return redirect(response, `${access.folder}${answer.location}`);
  }
  if (context.note !== undefined) session.note = undefined;
  send(response, answer.status ?? 200, documentOf(answer, context));
}

/** Returns what a page answers; for a failure a page that says so: the one that the form came from, with what was typed, or one of its own. */
async function answerOf(context: Context, form: URLSearchParams | null | undefined): Promise<Answer> {
  if (form === undefined) return failurePage(context, { message: context.texts.badForm, status: 400 });
  try {
    return await answerPage(context, form);
  } catch (error) {
    const failure = failureOf(error);
    const asked = form && (await answerPage({ ...context, query: form }, null).catch(() => undefined));
    if (asked && !('location' in asked) && asked.status === undefined)
      return { ...asked, status: failure.status, trouble: failure.message, isLive: false };
    return { ...failurePage(context, failure), isLive: form === null };
  }
}

/**
 * Leads to what a form did, where no page has said so yet: a second click took the place of the first. Says otherwise that it acted
 * already: a reload, or a page that was gone back to, sent it again.
 */
function sentAnswer(context: Context, mark: string, note: Session['note']): Answer {
  const { say, folder, path } = context;
  if (note?.mark === mark) return { location: note.at };
  const said = say(
    'This form was sent already. It acts once: nothing was done again. What its answer showed is not kept:',
    'Este formulário já foi enviado. Ele age uma vez só: nada foi feito de novo. O que a resposta mostrou não é guardado:',
  );
  const anew = html`<a href="${folder}${path}">${say('open the page anew', 'abra a página de novo')}</a>`;
  return failurePage(context, { message: html`${said} ${anew}`, status: 409 });
}

function failurePage(context: Context, { message, status }: Failure): Page {
  const { texts } = context;
  const title = status === 502 ? texts.unreachable : status === 404 ? texts.notFoundTitle : texts.refused;
  return { title, content: errorPage(context, title, message), status, isLive: false, hasFailed: true };
}

/** Reads a form. Returns `undefined` where it is none, or too long. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (!/^application\/x-www-form-urlencoded(?:;|$)/i.test(request.headers['content-type'] ?? '')) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= longestForm) chunks.push(chunk); // the rest is read, too: a browser that cannot send it shows no answer
  }
  return length > longestForm ? undefined : new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

/** Bytes. */
const longestForm = 64 * 1_024;

const languageCookie = 'emissor_language';

function chosenLanguage(cookie: string): Language | undefined {
  const [, language] = /(?:^|; )emissor_language=(pt|en)(?:;|$)/.exec(cookie) ?? [];
  return language === 'pt' || language === 'en' ? language : undefined;
}

/** Returns a path below the folder: nothing that leads elsewhere. */
function ownPath(path: string | null): string {
  return path !== null && /^\/(?![/\\])/.test(path) ? path : '/';
}

/** Returns a location as the request for it will name it. */
function placeOf(location: string, host: string): string {
  const { pathname, search } = new URL(`http://${host}${location}`);
  return `${pathname}${search}`;
}

function redirect(response: ServerResponse, location: string): void {
  response.setHeader('Location', location);
  send(response, 303, '', 'text/plain');
}

function send(response: ServerResponse, status: number, body: string, type = 'text/html'): void {
  response
    .writeHead(status, {
      'Content-Type': `${type}; charset=utf-8`,
      'Cache-Control': 'no-store',
      'Content-Security-Policy': contentSecurityPolicy,
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Referrer-Policy': 'same-origin', // with no-referrer browsers send "Origin: null", and every form would be refused
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    })
    .end(body);
}
