import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { synthesise } from '../../../src/local/assembly/assembly.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const root = temporaryDirectory();
mkdirSync(join(root, 'bin'));
const output = join(root, 'out');

/** Synthesises an app that consists of `code`. */
const run = (code: string, signal = new AbortController().signal, logFile = join(root, 'synthesis.log')) => {
  writeFileSync(join(root, 'bin/app.ts'), code);
  return synthesise({ root, entry: 'bin/app.ts', context: { stage: 'local' } }, { output, logFile, signal });
};

it("gives the app its directory and its context: the project's, and that of the request over it", async () => {
  writeFileSync(join(root, 'cdk.json'), JSON.stringify({ app: 'x', context: { flag: true, stage: 'dev' } }));
  await run(
    `import { writeFileSync } from 'node:fs'; const out: string = process.env.CDK_OUTDIR ?? ''; writeFileSync(out, process.env.CDK_CONTEXT_JSON ?? '');`,
  );
  expect(JSON.parse(readFileSync(output, 'utf8'))).toEqual({ flag: true, stage: 'local' });
});

describe('an app that fails', () => {
  it.each([
    ["console.error('Stage local: the schedule must be …'); process.exit(1);", /: Stage local: the schedule must be …/],
    [
      "console.log('Bundling asset x...'); console.error('✘ [ERROR] Could not resolve \"a.ts\"'); process.exit(1);",
      /: ✘ \[ERROR\] Could not resolve/,
    ],
    ["throw new TypeError('broken');", /: TypeError: broken/],
    ['process.exit(1);', /: the app said nothing/],
  ])('%s is reported in one line; the whole output is kept', async (code, message) => {
    await expect(run(code)).rejects.toThrow(message);
    await expect(run(code)).rejects.not.toThrow(/\n/);
    expect(readFileSync(join(root, 'synthesis.log'), 'utf8').length).toBeGreaterThanOrEqual(0);
  });

  it('is reported with its own reason where its output cannot be kept', async () => {
    const failed = run("throw new TypeError('broken');", undefined, join(root, 'bin'));
    await expect(failed).rejects.toThrow(/^The CDK app does not synthesise: TypeError: broken \(.*bin: EISDIR.*\)$/);
  });
});

it('can be cancelled', async () => {
  const breaking = new AbortController();
  const running = run('setTimeout(() => {}, 60_000);', breaking.signal);
  breaking.abort();
  await expect(running).rejects.toMatchObject({ name: 'AbortError' });
});

it('a cdk.json that is not JSON is reported', async () => {
  writeFileSync(join(root, 'cdk.json'), '{');
  await expect(run('')).rejects.toThrow('cdk.json cannot be read');
});
