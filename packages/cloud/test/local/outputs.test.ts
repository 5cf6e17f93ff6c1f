import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimOutputs, writeOutputs } from '../../src/local/outputs.ts';
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

  it.each([
    ['a directory', directory],
    ['a device', '/dev/null'],
    ['below a file', join(directory, 'plain', 'outputs.json')],
    ['where nothing can be made', '/proc/cloud/outputs.json'],
  ])('is refused: %s', (_title, place) => {
    writeFileSync(join(directory, 'plain'), '');
    expect(() => claimOutputs(place)).toThrow(/^The outputs cannot be written to /);
  });

  it('belongs to one run at a time, from before it is written', () => {
    const release = claimOutputs(file);
    expect(() => claimOutputs(file)).toThrow(
      expect.objectContaining({ message: `${file} belongs to a run that is up`, problem: 'outputs-in-use' }),
    );
    release();
    claimOutputs(file)();
    expect(readdirSync(dirname(file))).toEqual([]);
  });

  it('that a killed run left is free, whatever listens at its address now', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const text = JSON.stringify({ ApiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    writeFileSync(file, text);
    const claim = `(await import('../../src/local/outputs.ts')).claimOutputs(process.argv[1]); process.kill(process.pid, 'SIGKILL');`;
    const cwd = import.meta.dirname;
    expect(spawnSync(process.execPath, ['-e', claim, file], { cwd }).signal).toBe('SIGKILL');
    claimOutputs(file)();
    expect(readFileSync(file, 'utf8')).toBe(text);
    server.close();
  });
});
