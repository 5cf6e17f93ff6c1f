import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readAssembly, synthesise } from '../../../src/local/assembly/assembly.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const root = temporaryDirectory();
mkdirSync(join(root, 'bin'));
writeFileSync(join(root, 'cdk.json'), JSON.stringify({ app: 'x', context: { flag: true, stage: 'dev' } }));
const output = join(root, 'out');

/** Synthesises an app that consists of `code`. */
const run = (code: string, signal = new AbortController().signal) => {
  writeFileSync(join(root, 'bin/app.ts'), code);
  return synthesise({ root, entry: 'bin/app.ts', context: { stage: 'local' } }, output, signal);
};

it("passes the output directory and the context to the app, and lets the request override the project's context", async () => {
  await run(
    `import { writeFileSync } from 'node:fs'; const out: string = process.env.CDK_OUTDIR ?? ''; writeFileSync(out, process.env.CDK_CONTEXT_JSON ?? '');`,
  );
  expect(JSON.parse(readFileSync(output, 'utf8'))).toEqual({ flag: true, stage: 'local' });
});

it('reports the output of an app that fails', async () => {
  const failed = run("console.log('Bundling'); throw new TypeError('broken');");
  await expect(failed).rejects.toThrow(/^Could not synthesise the CDK app:\n.*TypeError: broken.*Bundling$/s);
});

it('stops the app if the signal aborts', async () => {
  const controller = new AbortController();
  const running = run('setTimeout(() => {}, 60_000);', controller.signal);
  controller.abort();
  await expect(running).rejects.toMatchObject({ name: 'AbortError' });
});

it('rejects a directory without an assembly', () => {
  expect(() => readAssembly(root)).toThrow(/is not a cloud assembly: ENOENT/);
});
