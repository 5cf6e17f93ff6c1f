import { DeleteParameterCommand, type PutParameterRequest, SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startOperatedTables } from '../../../support/operated-tables.ts';
import { quickHashing } from '../../../support/password-hashing.ts';

// `ops smoke` creates a client and a user once for a stage, and once for each test of a local run (contract, section 7).

const credentials = '/emissor/dev/smoke/credentials';

const operated = await startOperatedTables();
/** The part of Parameter Store that smoke tests use. */
const parameters = new Map<string, Partial<PutParameterRequest>>();
let outputs: Record<string, string | undefined>;

const parameterStore = vi.spyOn(SSMClient.prototype, 'send').mockImplementation(async command => {
  const { Name = '', Overwrite, ...stored }: Partial<PutParameterRequest> = Object(command.input);
  const [isPut, known] = ['Value' in stored, parameters.get(Name)];
  if (isPut && known && !Overwrite) throw Object.assign(new Error(), { name: 'ParameterAlreadyExists' });
  if (!isPut && !known) throw Object.assign(new Error(), { name: 'ParameterNotFound' });
  if (isPut) parameters.set(Name, stored);
  else if (command instanceof DeleteParameterCommand) parameters.delete(Name);
  return { Parameter: { Name, ...known } };
});

afterAll(async () => {
  parameterStore.mockRestore();
  await operated.stop();
});

beforeEach(async () => {
  outputs = {
    KeyArn: 'the-key',
    AuthUrl: 'http://127.0.0.1:65531', // no server listens on this port, so tests fail when they log in
    BaseUrl: 'http://127.0.0.1:65532',
    SmokeReceiverUrl: 'https://receiver.example.com/smoke',
    SmokeCredentialsParameter: credentials,
  };
  parameters.clear();
  for (const { clientId } of await clients()) await operated.json(`clients delete ${clientId}`);
  for (const { userId } of await users()) await operated.json(`users delete ${userId}`);
});

const clients = (): Promise<{ clientId: string }[]> => operated.json('clients list');
const users = (): Promise<{ userId: string; email: string }[]> => operated.json('users list');
const ops = (...words: string[]) => operated.under({ outputs }).run(...words);
const names = async () => [
  ...(await clients()).map(({ clientId }) => clientId),
  ...(await users()).map(({ email }) => email),
];
const storedIdentity = () => JSON.parse(parameters.get(credentials)?.Value ?? '');

describe('ops smoke on a stage', () => {
  it('creates a client and a user once, stores them, and never shows their secrets', async () => {
    const { code, stdout, stderr } = await ops('smoke');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^identity +\d+ ms\n$/);
    const failed =
      /^error: the smoke test of .* failed at "token" after \d+\.\d s: POST .* \(ECONNREFUSED\)\. Check .*\n$/;
    expect(stderr).toMatch(failed);
    const { Value: _, ...stored } = parameters.get(credentials) ?? {};
    expect(stored).toEqual({ Type: 'SecureString', KeyId: 'the-key' });
    const { clientId, clientSecret, username, password } = storedIdentity();
    expect(await operated.json(`clients show ${clientId}`)).toMatchObject({
      accountId: '_smoke',
      grants: ['password'],
    });
    expect(await operated.json(`users show ${username}`)).toMatchObject({ accountId: '_smoke', role: 'admin' });
    for (const secret of [clientSecret, password]) expect(stdout + stderr).not.toContain(secret);
    await ops('smoke');
    expect(await names()).toEqual([clientId, username]);
    expect(storedIdentity()).toMatchObject({ clientId });
  });

  it('reports a parameter with invalid content, and does not show the content', async () => {
    parameters.set(credentials, { Value: '{"password":"secret"' });
    const { stderr } = await ops('smoke');
    expect(stderr).toMatch(/failed at "identity" .*: the parameter is malformed. .*"smoke rotate-cred/);
    expect(stderr).not.toContain('secret"');
    expect(await names()).toEqual([]);
  });
});

describe('ops smoke on the local run', () => {
  beforeEach(() => {
    delete outputs.SmokeCredentialsParameter;
  });

  it('returns the failed step, the reason and all steps as JSON, and deletes its client and user', async () => {
    const { code, stdout, stderr } = await ops('smoke', '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      error: expect.stringContaining('failed at "token"'),
      ...{ code: 'failed', exitCode: 1, passed: false, step: 'token', deliveryId: null },
      reason: expect.stringContaining('ECONNREFUSED'),
      hint: expect.stringContaining('the token function'),
      durationMs: expect.any(Number),
      steps: [{ name: 'identity', durationMs: expect.any(Number) }],
    });
    expect([await names(), [...parameters]]).toEqual([[], []]);
    expect(await ops('smoke', 'remove', '--yes')).toMatchObject({ code: 0, stdout: 'There was nothing to remove.\n' });
  });

  it('requires a receiver, and has no credentials to rotate', async () => {
    const rotated = await ops('smoke', 'rotate-credentials');
    expect(rotated).toMatchObject({ code: 1, stderr: expect.stringContaining('Each smoke test creates new ones') });
    delete outputs.SmokeReceiverUrl;
    const missing = 'has no output "SmokeReceiverUrl". Deploy or start this version first.';
    expect((await ops('smoke')).stderr).toContain(missing);
    expect(await names()).toEqual([]);
  });
});

describe('ops smoke rotate-credentials', () => {
  it.each(['a valid', 'a missing', 'an invalid'])('replaces %s parameter and its login', async parameter => {
    if (parameter === 'a valid') await ops('smoke');
    if (parameter === 'an invalid') parameters.set(credentials, { Value: 'x' });
    const before = await names();
    const { code, stdout, stderr } = await ops('smoke', 'rotate-credentials');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.includes('The previous client and user are deleted.')).toBe(parameter === 'a valid');
    const { clientId, clientSecret, username, password } = storedIdentity();
    expect(stdout).toContain(clientId);
    for (const secret of [clientSecret, password]) expect(stdout).not.toContain(secret);
    expect(before).not.toContain(clientId);
    expect(await names()).toEqual([clientId, username]);
  });

  it('keeps the stored client and user if two rotations run concurrently', async () => {
    await ops('smoke');
    const first = storedIdentity();
    const rotate = vi.fn(() => ops('smoke', 'rotate-credentials'));
    const hashPassword = async (password: string) => {
      if (rotate.mock.calls.length === 0) await rotate();
      return quickHashing.hash(password);
    };
    await operated.under({ outputs, runtime: { hashPassword } }).run('smoke rotate-credentials');
    expect(rotate).toHaveBeenCalledOnce();
    const { clientId, username } = storedIdentity();
    expect(await names()).toEqual(expect.arrayContaining([clientId, username]));
    expect(await names()).not.toContain(first.clientId);
  });
});

describe('ops smoke remove', () => {
  it('deletes only the smoke-test parameter, client and user', async () => {
    await ops('smoke');
    const { clientId, username } = storedIdentity();
    const other = await operated.createClient('Smoke test', '--account=acme');
    expect(await ops('smoke', 'remove')).toMatchObject({ code: 1, stderr: expect.stringContaining('Add --yes') });
    const stdout = `Removed client ${clientId}, user ${username}, ${credentials}.\n`;
    expect(await ops('smoke', 'remove', '--yes')).toMatchObject({ code: 0, stdout });
    expect([...parameters]).toEqual([]);
    expect(await names()).toEqual([other.clientId]);
    expect(await ops('smoke', 'remove', '--yes')).toMatchObject({ code: 0 });
  });
});
