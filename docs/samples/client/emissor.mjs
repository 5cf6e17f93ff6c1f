import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const { AUTH_URL, BASE_URL, CLIENT_ID, CLIENT_SECRET, USER_EMAIL, USER_PASSWORD, TOKENS_FILE, REFRESH_SECONDS } = process.env;
if (!TOKENS_FILE) throw new Error('TOKENS_FILE is not set');
const owner = `${AUTH_URL} ${CLIENT_ID} ${USER_EMAIL}`; // tokens of another are not used
let renewing;

/** Calls the API; once more, with another token, where the stored one is refused. */
export async function call(method, path, body) {
  const token = await validToken();
  const answer = await callWith(token);
  return answer.status === 401 ? callWith(await validToken(token)) : answer;

  async function callWith(bearer) {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    for (let tries = 1; ; tries++) {
      const answer = await fetch(BASE_URL + path, { method, headers, body, signal: AbortSignal.timeout(30_000) });
      if (!waitOf(answer) || tries === 5) return answer;
      await sleep(waitOf(answer));
    }
  }
}

/** Returns the stored token unless it was refused. One other is asked for, however many calls wait for it. */
async function validToken(refused) {
  const { access_token } = stored();
  if (access_token && access_token !== refused) return access_token;
  renewing ??= renew().finally(() => (renewing = undefined));
  return renewing;
}

async function renew() {
  const now = Date.now();
  const pair = { refresh_until: now + (Number(REFRESH_SECONDS || 25) || 0) * 1_000, refused_until: 0, ...stored() };
  const { refresh_token, refresh_until, refused_until } = pair;
  if (now < refused_until) throw new Error(`The login was refused: mend the password and delete ${TOKENS_FILE}`);
  let fresh = { error: 'invalid_grant' };
  store(pair); // before the refresh token is sent: no later call may send it after that
  if (refresh_token && now <= refresh_until) fresh = await grant({ grant_type: 'refresh_token', refresh_token }, refresh_until);
  if (['invalid_grant', 'unauthorized_client'].includes(fresh.error)) {
    // The session is over, or may not be refreshed: one login, and no loop.
    fresh = await grant({ grant_type: 'password', username: USER_EMAIL, password: USER_PASSWORD });
  }
  if (fresh.access_token) store(fresh); // before anybody uses it
  else if (fresh.error === 'invalid_grant') store({ refused_until: Date.now() + 900_000 });
  if (!fresh.access_token) throw new Error(`There is no token: ${fresh.error}`);
  return fresh.access_token;
}

/** Repeats a request that failed or whose answer was lost. A refresh token that is sent again after 30 seconds counts as stolen. */
async function grant(form, until = Infinity) {
  const body = new URLSearchParams({ ...form, client_id: CLIENT_ID, client_secret: CLIENT_SECRET });
  for (let tries = 1; ; tries++) {
    let wait = tries * 1_000;
    try {
      const answer = await fetch(`${AUTH_URL}/oauth/v1/token`, { method: 'POST', body, signal: AbortSignal.timeout(8_000) });
      if ((answer.status < 500 && answer.status !== 429) || tries === 4) return await answer.json();
      wait = Math.max(wait, waitOf(answer));
    } catch (error) {
      if (tries === 4) throw error;
    }
    await sleep(wait); // before a login, too
    if (Date.now() >= until) return { error: 'invalid_grant' };
  }
}

/** Returns the milliseconds that 429 and 503 ask to wait, a minute at most; 0 for other answers. */
function waitOf({ status, headers }) {
  return [429, 503].includes(status) ? Math.min(Number(headers.get('retry-after')) || 1, 60) * 1_000 : 0;
}

function store(content) {
  const next = `${TOKENS_FILE}.${randomUUID()}`; // a file that is not whole never has the name
  try {
    writeFileSync(next, JSON.stringify({ [owner]: content }), { mode: 0o600 });
    renameSync(next, TOKENS_FILE);
  } finally {
    rmSync(next, { force: true });
  }
}

function stored() {
  try {
    return JSON.parse(readFileSync(TOKENS_FILE, 'utf8'))[owner] ?? {};
  } catch {
    return {}; // there is none before the first login
  }
}
