import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { type RunOutputs, requireWritable, writeOutputs } from '../../src/local/outputs.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const directory = temporaryDirectory();
const file = join(directory, 'below', 'outputs.json');
const outputs = { Region: 'us-east-1' } as Partial<RunOutputs> as RunOutputs;

it('the outputs file is readable only by its owner, and is removed when the run ends', () => {
  requireWritable(file);
  expect(readdirSync(dirname(file))).toEqual([]);
  const remove = writeOutputs(file, outputs);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(outputs);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  remove();
  expect(existsSync(file)).toBe(false);
  remove();
});

it('the outputs file is not removed if another run has overwritten it', () => {
  const remove = writeOutputs(file, outputs);
  writeFileSync(file, '{}');
  remove();
  expect(existsSync(file)).toBe(true);
});

it.each([
  ['a directory', directory],
  ['a device', '/dev/null'],
  ['below a file', join(file, 'outputs.json')],
])('an outputs file is rejected if it is not writable: %s', (_title, path) => {
  writeFileSync(file, '');
  expect(() => requireWritable(path)).toThrow(/^Could not write the outputs to /);
});
