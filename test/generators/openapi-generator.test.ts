import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { command } from '../support/command.ts';
import { startReceiver } from '../support/e2e-receiver.ts';
import { createClient, openSession, publish, register, untilSettled } from '../support/e2e-service.ts';
import { authUrl, baseUrl, describeWith } from '../support/e2e-target.ts';
import { generatorJar } from './downloads.ts';
import { compiledLanguages, documentFile, documentNames, drivenLanguages, languages, type Steps } from './languages.ts';
import { laterEvents, startLaterService } from './stand-in.ts';
import { generatorVersion } from './versions.ts';

// Generates clients and compiles them unchanged. Programs call the clients of two languages.

describeWith(['names'], `openapi-generator ${generatorVersion}`, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-generators-'));
  beforeAll(() => generate(folder));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(Object.entries(compiledLanguages))('generates %s clients that compile', async (name, { compile }) => {
    await compile(path.join(folder, name));
  });

  it.each(Object.entries(drivenLanguages))(
    'generates %s clients that compile and work with current and later responses',
    async (name, { compile, steps }) => {
      await expectSteps(await compile(path.join(folder, name)), steps);
    },
  );
});

/** Expects that a program completes its steps against the run under test and against a later version of the service. */
async function expectSteps(driver: readonly [string, ...string[]], steps: Steps): Promise<void> {
  const live = await command([...driver, 'live'], { env: await liveEnvironment() });
  expect(stepsOf(live)).toEqual(steps.live);
  const service = await startLaterService();
  try {
    const env = { ...credentials('client', 'secret', 'ana@example.com', 'password'), ...laterEvents };
    const later = await command([...driver, 'later'], {
      env: { ...env, AUTH_URL: service.url, BASE_URL: service.url },
    });
    expect(stepsOf(later)).toEqual(steps.later);
  } finally {
    await service.stop();
  }
}

/**
 * Generates the clients of all languages, two at a time. Each client needs its own process, because the generator's `batch` ignores
 * `--threads`, and its threads sometimes mix the paths of both documents.
 */
async function generate(folder: string): Promise<void> {
  const jar = await generatorJar();
  for (const [generatorName, { properties }] of Object.entries(languages)) {
    await Promise.all(
      documentNames.map(name => {
        const file = path.join(folder, `${generatorName}-${name}.json`);
        const outputDir = path.join(folder, generatorName, name);
        const settings = { generatorName, inputSpec: documentFile(name), outputDir, ...properties(name) };
        writeFileSync(file, JSON.stringify(settings));
        // A process that runs for only 2 seconds is faster without the second JIT compiler.
        return command(['java', '-XX:TieredStopAtLevel=1', '-jar', jar, 'generate', '--config', file]);
      }),
    );
  }
}

/** Creates an account with three delivered events. Returns the environment of a program. */
async function liveEnvironment(): Promise<Record<string, string>> {
  const receiver = await startReceiver(`generators-${process.pid}-${Date.now()}`);
  const client = await createClient();
  const session = await openSession(client);
  const { account, email, password } = session.user;
  await register(session, { evento: 'demanda.criada', url: receiver.url('/emissor') });
  const ids: string[] = [];
  for (const id_demanda of [1, 2, 3]) {
    const id = await publish(account, { event: 'demanda.criada', id_demanda });
    expect(await untilSettled(id)).toMatchObject({ state: 'entregue' });
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
