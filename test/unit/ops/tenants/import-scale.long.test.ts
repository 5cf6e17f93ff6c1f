import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { readLines } from '../../../../ops/tenants/import-lines.ts';
import { importLines } from '../../../../ops/tenants/import-users.ts';

const size = 1_000_000;

it('a file of any length is imported with at most 64 lines in hand', { timeout: 300_000 }, async () => {
  let [given, finished, most] = [0, 0, 0];
  const line = (number: number) =>
    `{"email":"user${number}@example.com","account":"acme","role":"admin","password_hash":"$2b$10$GhvMmNVjRW29ulnudl.LbuAnUtN/LRfe1JsBm1Xu6LE3059z5Tr8m"}\n`;
  function* file() {
    for (let at = 0; at < size; at += 100) {
      yield Buffer.from(Array.from({ length: 100 }, (_, more) => line(at + more)).join(''));
    }
  }
  async function* counted() {
    for await (const next of readLines(Readable.from(file()), 4_096)) {
      given += 1;
      most = Math.max(most, given - finished);
      yield next;
    }
  }
  const counts = await importLines({
    lines: counted(),
    importUser: async () => {
      await new Promise(setImmediate);
      finished += 1;
      return 'created';
    },
    progress: () => {},
    warn: () => {},
  });
  expect(counts).toMatchObject({ lines: size, created: size });
  expect(most).toBeLessThanOrEqual(64);
});
