import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createClient } from '../support/e2e-accounts.ts';
import { settled } from '../support/e2e-deliveries.ts';
import { deliveryId, publish } from '../support/e2e-queues.ts';
import { startReceiver } from '../support/e2e-receiver.ts';
import { authUrl, baseUrl, describeWith } from '../support/e2e-target.ts';
import { openSession, register } from '../support/e2e-webhooks.ts';
import { command, say } from './commands.ts';
import { generatorJar } from './downloads.ts';
import { documentFile, documentNames, type Language, languages } from './languages.ts';
import { laterEvents, startLaterService } from './stand-in.ts';

/** Describes the clients that a version of openapi-generator makes: generated, compiled and used without an edit. */
export function describeClients(version: Parameters<typeof generatorJar>[0]): void {
  describeWith(['names'], `openapi-generator ${version}`, () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'emissor-generators-'));
    afterAll(() => rmSync(folder, { recursive: true }));

    it.each(Object.entries(languages))(
      '%s: its client works, today and with what is added later',
      async (name, language) => {
        const own = path.join(folder, name);
        mkdirSync(own);
        await generate(version, name, language, own);
        const driver = await language.compile(own);
        await expectToServe(`${name} of openapi-generator ${version}`, driver);
      },
    );
  });
}

/** Expects a client to make every step against the run under test, and to read the answers of a later service. */
export async function expectToServe(title: string, driver: readonly [string, ...string[]]): Promise<void> {
  const live = await command([...driver, 'live'], { env: await liveEnvironment() });
  expect(stepsOf(live)).toEqual(liveSteps);
  const later = await startLaterService();
  try {
    const env = { ...credentials('client', 'secret', 'ana@example.com', 'password'), ...laterEvents };
    const unknown = await command([...driver, 'unknown'], {
      env: { ...env, AUTH_URL: later.url, BASE_URL: later.url },
    });
    expect(stepsOf(unknown)).toEqual(laterSteps);
  } finally {
    await later.stop();
  }
  say(`${title}: ${liveSteps.length} steps live, ${laterSteps.length} with what is added later`);
}

const liveSteps =
  'log in,refresh,introspect,register,rotate,list,test,page,filter,delivery,resend,replay,422,revoke'.split(',');

const laterSteps = 'token,introspection,webhook,delivery,problem,422,event,grown event'.split(',');

async function generate(version: Parameters<typeof generatorJar>[0], name: string, language: Language, folder: string) {
  const jar = await generatorJar(version);
  for (const document of documentNames) {
    const files = ['--input-spec', documentFile(document), '--output', path.join(folder, document)];
    await command(['java', '-jar', jar, 'generate', '--generator-name', name, ...files, ...language.options(document)]);
  }
}

/** Makes an account with three delivered events, and returns what a program needs to know. */
async function liveEnvironment(): Promise<Record<string, string>> {
  const receiver = await startReceiver(`generators-${process.pid}-${Date.now()}`);
  const client = await createClient();
  const session = await openSession(client);
  const { account, email, password } = session.user;
  await register(session, { evento: 'demanda.criada', url: receiver.url('/emissor') });
  const ids: string[] = [];
  for (const id_demanda of [1, 2, 3]) {
    const id = deliveryId(account, 'demanda.criada', await publish(account, { event: 'demanda.criada', id_demanda }));
    expect(await settled(id)).toMatchObject({ state: 'entregue' });
    ids.push(id);
  }
  return {
    ...credentials(client.clientId, client.clientSecret, email, password),
    AUTH_URL: authUrl,
    BASE_URL: baseUrl,
    HOOK_URL: receiver.url('/emissor'),
    DELIVERY: ids[0] ?? '',
    DELIVERIES: ids.join(),
  };
}

function credentials(clientId: string, clientSecret: string, username: string, password: string) {
  return { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, USERNAME: username, PASSWORD: password };
}

function stepsOf(output: string): string[] {
  return output.split('\n').filter(line => line !== '');
}
