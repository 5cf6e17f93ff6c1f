import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Client } from '../../tools/support/accounts.ts';
import { mapHost, type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { createClient, openSession, publish, register, type Session, untilSettled } from '../support/e2e-service.ts';
import { authUrl, baseUrl, describeWith } from '../support/e2e-target.ts';
import { pythonEnvironment } from '../support/python-environment.ts';

// Schemathesis generates valid and invalid requests from the OpenAPI document, and checks that the document describes the responses. The
// seed and the data determine the requests.

const [auth, webhooks] = ['auth', 'webhooks'].map(name =>
  path.join(import.meta.dirname, `../../docs/api/${name}.openapi.json`),
) as [string, string];
const folder = mkdtempSync(path.join(tmpdir(), 'emissor-schemathesis-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The excluded check. A request that matches the schema may still have a private URL, a reversed range, or a wrong password. */
const excludedCheck = 'positive_data_acceptance';

const evento = 'demanda.criada';

describeWith(['names'], 'Schemathesis', () => {
  let python: string;
  let receiver: Receiver;
  let client: Client;
  let session: Session;
  let deliveryId: string;

  beforeAll(async () => {
    python = await pythonEnvironment('schemathesis', ['schemathesis==4.32.5']);
    receiver = await startReceiver('schemathesis');
    await mapHost('hooks.example.com', `http://127.0.0.1:${receiver.port}`); // the host of the examples in the document
    client = await createClient();
    session = await openSession(client);
    const { account } = session.user;
    await register(session, { evento, url: 'https://hooks.example.com/emissor' });
    deliveryId = await publish(account, { event: evento, id_demanda: 1 });
    expect(await untilSettled(deliveryId)).toMatchObject({ state: 'entregue' });
    return () => receiver.stop();
  });

  it('finds only documented responses from {base_url}', async () => {
    // The ID of an existing delivery, because a random ID would result in 404.
    const existingIds = ['getDelivery', 'resendDelivery'].map(
      operation =>
        `[[operations]]\ninclude-operation-id = "${operation}"\nparameters = { "path.id" = "${deliveryId}" }\n`,
    );
    // Generated clients send null instead of no body. The schema omits null, because generators do not support a union with null.
    const optionalBody =
      '[[operations]]\ninclude-operation-id = "rotateSecret"\nchecks.negative_data_rejection.enabled = false\n';
    const { code, output } = await run(['--url', baseUrl, '--max-examples', '50'], {
      file: webhooks,
      header: `Authorization: Bearer ${session.token}`,
      config: [...existingIds, optionalBody].join('\n'),
    });
    console.log(summaryOf(output));
    expect(code, output).toBe(0);
  });

  it('finds only documented responses from {auth_url}', async () => {
    const basic = Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64');
    const { code, output } = await run(['--url', authUrl, '--max-examples', '100'], {
      file: auth,
      header: `Authorization: Basic ${basic}`,
      config: '',
    });
    console.log(summaryOf(output));
    expect(code, output).toBe(0);
  });

  it('reports an undocumented response', async () => {
    const content = JSON.parse(readFileSync(webhooks, 'utf8'));
    delete content.paths['/v1/webhooks'].get.responses['200'];
    const shortened = path.join(folder, 'shortened.json');
    writeFileSync(shortened, JSON.stringify(content));
    const { code, output } = await run(
      ['--url', baseUrl, '--include-operation-id', 'listWebhooks', '--phases', 'examples,coverage'],
      { header: `Authorization: Bearer ${session.token}`, config: '', file: shortened },
    );
    expect(code).toBe(1);
    expect(output).toMatch(/Undocumented status code/);
  });

  /** Runs Schemathesis. The header is in the configuration file, because other users of the computer can see arguments. */
  function run(
    options: readonly string[],
    { header, config, file }: { readonly header: string; readonly config: string; readonly file: string },
  ): Promise<{ readonly code: number; readonly output: string }> {
    const configFile = path.join(mkdtempSync(path.join(folder, 'run-')), 'schemathesis.toml');
    const [name = '', value = ''] = header.split(': ');
    writeFileSync(configFile, `headers = { ${name} = "${value}" }\n\n${config}`);
    const fixedOptions = [
      '--exclude-checks',
      excludedCheck,
      '--seed',
      '1',
      '--workers',
      '1',
      '--no-color',
      '--continue-on-failure',
    ];
    const args = ['-m', 'schemathesis.cli', '--config-file', configFile, 'run', file, ...fixedOptions, ...options];
    return new Promise(resolve => {
      execFile(python, args, { cwd: folder, maxBuffer: 2 ** 26, timeout: 280_000 }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
      );
    });
  }
});

function summaryOf(output: string): string {
  const from = output.search(/=+ SUMMARY =+/);
  return output.slice(Math.max(from, 0)).trim();
}
