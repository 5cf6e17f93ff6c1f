import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimOutputs, writeOutputs } from '../src/outputs.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const directory = temporaryDirectory();

const outputs = {
  DynamoDbEndpoint: 'd',
  SqsEndpoint: 'q',
  SnsEndpoint: 'n',
  KmsEndpoint: 'k',
  LogsEndpoint: 'w',
  Region: 'us-east-1',
};

describe('the outputs file', () => {
  const file = join(directory, 'below', 'outputs.json');

  it('can be read by its owner only, and is removed with the run', () => {
    const remove = writeOutputs(file, outputs);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(outputs);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    remove();
    expect(existsSync(file)).toBe(false);
    remove();
  });

  it('stays when another run has overwritten it', () => {
    const remove = writeOutputs(file, outputs);
    writeFileSync(file, '{}');
    remove();
    expect(existsSync(file)).toBe(true);
  });

  it('that cannot be written is reported in one line', () => {
    expect(() => writeOutputs(join(file, 'below.json'), outputs)).toThrow(/^The outputs cannot be written to /);
  });
});

describe('before the start, an outputs file', () => {
  const file = join(directory, 'claimed', 'outputs.json');

  it('is checked, and nothing is left there', async () => {
    await claimOutputs(file, 'ApiUrl');
    expect(readdirSync(dirname(file))).toEqual([]);
  });

  it.each([
    ['a directory', directory],
    ['a device', '/dev/null'],
    ['below a file', join(directory, 'plain', 'outputs.json')],
    ['where nothing can be made', '/proc/local-cloud/outputs.json'],
  ])('is refused: %s', async (_title, place) => {
    writeFileSync(join(directory, 'plain'), '');
    await expect(claimOutputs(place, 'ApiUrl')).rejects.toThrow(/^The outputs cannot be written to /);
  });

  it('of a run that is up is not overwritten', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const text = JSON.stringify({ ApiUrl: `http://127.0.0.1:${port}` });
    writeFileSync(file, text);
    await expect(claimOutputs(file, 'ApiUrl')).rejects.toThrow(
      expect.objectContaining({
        message: `${file} belongs to a run that is up at http://127.0.0.1:${port}`,
        problem: 'outputs-in-use',
      }),
    );
    server.close();
    await once(server, 'close');
    await claimOutputs(file, 'ApiUrl'); // a killed run left it
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it.each([['no JSON'], ['null'], ['{"ApiUrl":7}'], ['{"ApiUrl":"https://api.example.com"}']])(
    'that no local run wrote is free: %s',
    async text => {
      writeFileSync(file, text);
      await expect(claimOutputs(file, 'ApiUrl')).resolves.toBeUndefined();
    },
  );
});
