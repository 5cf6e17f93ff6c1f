import { type ConsoleOptions, createConsole } from '../../console/app.tsx';
import { createMemoryStore } from '../../console/sessions.ts';

const host = '127.0.0.1:4005';

/** Creates a console with sessions in memory, and a client that uses the console without a browser. */
export function startConsole(options: Pick<ConsoleOptions, 'service'> & Partial<ConsoleOptions>) {
  const { fetch, makeLink } = createConsole({ store: createMemoryStore(), host, now: Date.now, ...options });
  return { ...makeConsoleClient(fetch), makeLink, fetch };
}

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** The path after redirects, relative to the session's folder. */
  readonly path: string;
}

type Form = Readonly<Record<string, string>>;

/** Creates a client that stores cookies, adds the session's form token, and follows redirects unless a request has the header `x-stay`. */
export function makeConsoleClient(fetch: (request: Request) => Response | Promise<Response>) {
  const cookies = new Map<string, string>();
  let folder = '';
  let formToken = '';
  return { send, open, post, enter, signIn, cookies, folder: () => folder };

  async function send(path: string, { headers = {}, ...init }: RequestInit & { headers?: Form } = {}): Promise<Page> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const url = new URL(path, `http://${host}`);
    const response = await fetch(new Request(url, { ...init, headers: { host, cookie, ...headers } }));
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/Max-Age=0/i.test(set)) cookies.delete(name);
      else cookies.set(name, value);
    }
    if (response.status === 303 && headers['x-stay'] === undefined)
      return send(response.headers.get('location') ?? '', { headers: languageOf(headers) });
    const html = await response.text();
    formToken = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? formToken;
    return {
      status: response.status,
      headers: response.headers,
      html,
      path: `${url.pathname}${url.search}`.slice(folder.length),
    };
  }

  function open(path: string, headers: Form = {}): Promise<Page> {
    return send(folder + path, { headers });
  }

  /** Sends a form as a page of the session does. */
  function post(path: string, form: Form = {}, headers: Form = {}): Promise<Page> {
    const body = new URLSearchParams({ form_token: formToken, ...form });
    return send(folder + path, { method: 'POST', body, headers: { origin: `http://${host}`, ...headers } });
  }

  /** Signs in with the link that a terminal printed. */
  async function enter(link: string): Promise<Page> {
    return openFolder(await post('/link', { token: link.split('#')[1] ?? '' }));
  }

  async function signIn(credentials: Form, headers: Form = {}): Promise<Page> {
    return openFolder(await post('/sign-in', credentials, headers));
  }

  function openFolder(page: Page): Page {
    folder = /^\/[\w-]{22}(?=\/)/.exec(page.path)?.[0] ?? folder;
    return page;
  }
}

function languageOf(headers: Form): Form {
  const language = headers['accept-language'];
  return language === undefined ? {} : { 'accept-language': language };
}

/** Returns the text of a page without markup. */
export function textOf({ html }: Page): string {
  return html
    .replace(/<(style|script)[\s\S]*?<\/\1>/g, '')
    .replaceAll('<wbr/>', '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&amp;', '&')
    .replaceAll('&#39;', "'")
    .replace(/\s+/g, ' ');
}
