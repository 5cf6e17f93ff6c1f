import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const { AUTH_URL, BASE_URL, CLIENT_ID, CLIENT_SECRET, USER_EMAIL, USER_PASSWORD, TOKENS_FILE } = process.env;
if (!TOKENS_FILE) throw new Error('TOKENS_FILE is not set');
let renewing;

/** Calls the API; once more, with another token, where the stored one is refused. */
export async function call(method, path, body) {
  const token = await validToken();
  const answer = await callWith(token);
  return answer.status === 401 ? callWith(await validToken(token)) : answer;

  function callWith(bearer) {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    return patiently(() => fetch(BASE_URL + path, { method, headers, body, signal: AbortSignal.timeout(30_000) }));
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
  const { refresh_token, refused_until = 0 } = stored();
  if (Date.now() < refused_until) throw new Error(`The login was refused: mend the password and delete ${TOKENS_FILE}`);
  let fresh = { error: 'invalid_grant' };
  if (refresh_token) fresh = await grant({ grant_type: 'refresh_token', refresh_token });
  if (fresh.error === 'invalid_grant') {
    // The session is over: one login, and no loop.
    fresh = await grant({ grant_type: 'password', username: USER_EMAIL, password: USER_PASSWORD });
  }
  if (fresh.access_token) store(fresh); // before anybody uses it
  else if (fresh.error === 'invalid_grant') store({ refused_until: Date.now() + 900_000 });
  if (!fresh.access_token) throw new Error(`There is no token: ${fresh.error}`);
  return fresh.access_token;
}

/** Repeats a request that failed or whose answer was lost: for 30 seconds a refresh token yields the same successor. */
async function grant(form) {
  const body = new URLSearchParams({ ...form, client_id: CLIENT_ID, client_secret: CLIENT_SECRET });
  for (let tries = 1; ; tries++) {
    try {
      const send = () => fetch(`${AUTH_URL}/oauth/v1/token`, { method: 'POST', body, signal: AbortSignal.timeout(8_000) });
      const answer = await patiently(send);
      if (answer.status < 500 || tries === 3) return await answer.json();
    } catch (error) {
      if (tries === 3) throw error;
    }
    await sleep(tries * 1_000);
  }
}

/** Waits as long as 429 and 503 ask for, up to a minute, four times at most. */
async function patiently(send) {
  for (let tries = 1; ; tries++) {
    const answer = await send();
    if (![429, 503].includes(answer.status) || tries === 5) return answer;
    await sleep(Math.min(Number(answer.headers.get('retry-after')) || 1, 60) * 1_000);
  }
}

function store(content) {
  const next = `${TOKENS_FILE}.${process.pid}`; // a file that is not whole never has the name
  writeFileSync(next, JSON.stringify(content), { mode: 0o600 });
  renameSync(next, TOKENS_FILE);
}

function stored() {
  try {
    return JSON.parse(readFileSync(TOKENS_FILE, 'utf8'));
  } catch {
    return {}; // there is none before the first login
  }
}
