import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oauthCases } from '../../lambdas/auth/routes.ts';
import { type Client, unique } from '../../tools/support/accounts.ts';
import { passwordGrant } from '../../tools/support/service-client.ts';
import { command } from '../generators/commands.ts';
import { createClient, createUser } from '../support/e2e-service.ts';
import { authUrl, plant } from '../support/e2e-target.ts';
import { classPath, compileJava } from './java-program.ts';

// Apache HttpClient, with which many Java programs post forms. Its default charset is ISO-8859-1, in the content type and in the form.

const dependencies = [
  'org.apache.httpcomponents.client5:httpclient5:5.5',
  'org.apache.httpcomponents:httpclient:4.5.14',
  'org.slf4j:slf4j-nop:2.0.17',
];
const programs = ['HttpClient5', 'HttpClient4'] as const;
const home = mkdtempSync(path.join(tmpdir(), 'emissor-java-http-clients-'));
let client: Client;

beforeAll(async () => {
  const files = programs.map(program => `${program}.java`);
  for (const file of files) cpSync(path.join(import.meta.dirname, file), path.join(home, file));
  compileJava(home, dependencies, files);
  client = await createClient();
});
afterAll(() => rmSync(home, { recursive: true }));

describe.each(programs)('%s', program => {
  it.each(['', 'Bearer stale'])('logs in in every way, with the Authorization header %j', async authorization => {
    const answers = await logIn(program, `Senha-${unique()}`, authorization);
    expect(answers).toEqual({
      'UrlEncodedFormEntity(pairs)': 200,
      'UrlEncodedFormEntity(pairs, UTF_8)': 200,
      'addParameters(pairs)': 200,
      'StringEntity(form, APPLICATION_FORM_URLENCODED)': 200,
    });
  });

  it('logs in with a password that is not ASCII if the program encodes it as UTF-8', async () => {
    const [, , description] = oauthCases.malformed_form;
    expect(await logIn(program, `Senha-${unique()}-ção`)).toEqual({
      'UrlEncodedFormEntity(pairs)': description,
      'UrlEncodedFormEntity(pairs, UTF_8)': 200,
      'addParameters(pairs)': description,
      'StringEntity(form, APPLICATION_FORM_URLENCODED)': 200,
    });
  });
});

/** Logs in in each way that a program has. Returns the status of each success, and the description of each refusal. */
async function logIn(program: string, password: string, authorization = '') {
  const form = new URLSearchParams(passwordGrant(client, await createUser({ password }))).toString();
  const words = ['java', '-cp', classPath, program, `${authUrl}/oauth/v1/token`, form, authorization] as const;
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
