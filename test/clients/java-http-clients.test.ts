import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oauthCases } from '../../lambdas/auth/routes.ts';
import { type Client, unique } from '../../tools/support/accounts.ts';
import { passwordGrant } from '../../tools/support/service-client.ts';
import { command } from '../support/command.ts';
import { createClient, createUser } from '../support/e2e-service.ts';
import { authUrl, plant } from '../support/e2e-target.ts';
import { copyLibraries } from '../support/maven.ts';

// Apache HttpClient, with which many Java programs post forms. Its default charset is ISO-8859-1, in the content type and in the form.

const libraries = ['org.apache.httpcomponents.client5:httpclient5:5.5', 'org.slf4j:slf4j-nop:2.0.17'];
const home = mkdtempSync(path.join(tmpdir(), 'emissor-java-http-clients-'));
let client: Client;

beforeAll(async () => {
  copyLibraries(home, libraries);
  const source = path.join(import.meta.dirname, 'HttpClient5.java');
  execFileSync('javac', ['-encoding', 'UTF-8', '-d', '.', '-cp', '*', source], { cwd: home });
  client = await createClient();
});
afterAll(() => rmSync(home, { recursive: true }));

describe('Apache HttpClient 5', () => {
  it.each(['', 'Bearer stale'])('logs in in every way, with the Authorization header %j', async authorization => {
    const answers = await logIn(`Senha-${unique()}`, authorization);
    expect(answers).toEqual({
      'UrlEncodedFormEntity(pairs)': 200,
      'UrlEncodedFormEntity(pairs, UTF_8)': 200,
      'addParameters(pairs)': 200,
      'StringEntity(form, APPLICATION_FORM_URLENCODED)': 200,
    });
  });

  it('logs in with a password that is not ASCII if the program encodes it as UTF-8', async () => {
    const [, , description] = oauthCases.malformed_form;
    expect(await logIn(`Senha-${unique()}-ção`)).toEqual({
      'UrlEncodedFormEntity(pairs)': description,
      'UrlEncodedFormEntity(pairs, UTF_8)': 200,
      'addParameters(pairs)': description,
      'StringEntity(form, APPLICATION_FORM_URLENCODED)': 200,
    });
  });
});

/** Logs in in each way that the program has. Returns the status of each success, and the description of each refusal. */
async function logIn(password: string, authorization = '') {
  const form = new URLSearchParams(passwordGrant(client, await createUser({ password }))).toString();
  const words = ['java', '-cp', '.:*', 'HttpClient5', `${authUrl}/oauth/v1/token`, form, authorization] as const;
  const lines = (await command(words, { cwd: home })).trim().split('\n');
  return Object.fromEntries(
    lines.map(line => {
      const [way, status, body = ''] = line.split('\t');
      const { access_token, refresh_token, error_description } = JSON.parse(body);
      for (const token of [access_token, refresh_token]) if (token) plant(token);
      return [way, error_description ?? Number(status)];
    }),
  );
}
