import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import type { Emulator } from './emulator.ts';

/** Tests that build on one another. */
export interface Steps {
  /** Registers a step as a test. It is skipped when one before it has failed. What it returns is printed beside its time. */
  step(name: string, run: () => Promise<string | undefined>, limit?: number): void;
  /** A path in the folder of this run, which is deleted at its end. */
  inFolder(...names: readonly string[]): string;
}

/** The time that a command may take on a busy machine, in milliseconds. */
export const commandLimit = 240_000;

/** Makes steps on one emulator, which is ended after the last of them. */
export function makeSteps(emulatorOf: () => Emulator | undefined): Steps {
  const began = performance.now();
  let folder = '';
  let failed: string | undefined;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'emissor-deployment-'));
  });

  afterAll(async () => {
    const emulator = emulatorOf();
    console.log(`${secondsSince(began)} s  all`);
    if (failed !== undefined && emulator) console.log(`The emulator wrote, at the end:\n${emulator.tail(60)}`);
    await emulator?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 30_000);

  return {
    inFolder: (...names) => path.join(folder, ...names),
    step: (name, run, limit = 2 * commandLimit) => {
      it(name, { timeout: limit }, async ({ skip }) => {
        if (failed !== undefined) skip(`"${failed}" failed`);
        const start = performance.now();
        let note: string | undefined = 'FAILED';
        try {
          note = await run();
        } catch (error) {
          failed = name;
          throw error;
        } finally {
          console.log(`${secondsSince(start)} s  ${name}${note === undefined ? '' : `: ${note}`}`);
        }
      });
    },
  };
}

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1_000).toFixed(1).padStart(6);
}
