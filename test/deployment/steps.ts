import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import type { Emulator } from './emulator.ts';

/** Tests that build on one another. */
export interface Steps {
  /** Registers a step as a test. It is skipped when one before it has failed. What it returns is noted beside its times. */
  step(name: string, run: () => Promise<string | undefined>, limit?: number): void;
  /** A path in the folder of this run, which is deleted at its end. */
  inFolder(...names: readonly string[]): string;
}

/** The time that a command may take on a busy machine, in milliseconds. */
export const commandLimit = 240_000;

/** Makes steps on one emulator, which is ended after the last of them. A table of all steps is printed then. */
export function makeSteps(name: string, emulatorOf: () => Emulator | undefined): Steps {
  const log = makeStepLog(() => emulatorOf()?.processId);
  let folder = '';

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), `emissor-${name}-`));
  });

  afterAll(async () => {
    const emulator = emulatorOf();
    console.log(`\n${log.table()}\n`);
    if (log.failed !== undefined && emulator) console.log(`The emulator wrote, at the end:\n${emulator.tail(60)}`);
    await emulator?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 30_000);

  return {
    inFolder: (...names) => path.join(folder, ...names),
    step: (step, run, limit = 2 * commandLimit) => {
      it(step, { timeout: limit }, async ({ skip }) => {
        if (log.failed !== undefined) skip(`"${log.failed}" failed`);
        await log.measure(step, run);
      });
    },
  };
}

/** The steps so far, with their times. */
interface StepLog {
  /** Runs a step. What it returns is noted beside its times. */
  measure(name: string, step: () => Promise<string | undefined>): Promise<void>;
  /** The step that failed, if one did. */
  readonly failed: string | undefined;
  /** A table of all steps. */
  table(): string;
}

/**
 * Makes a log of steps. Each has its time and, on Linux, the processor time of the commands that ended in it, together with that of
 * the process that `emulatorId` returns, without its functions that are still running.
 */
function makeStepLog(emulatorId: () => number | undefined): StepLog {
  const rows: { readonly name: string; readonly seconds: number; readonly processor: number; readonly note: string }[] =
    [];
  let failed: string | undefined;

  const processorSeconds = () => {
    const id = emulatorId();
    return childrenSeconds('self', false) + (id === undefined ? 0 : childrenSeconds(String(id), true));
  };

  return {
    get failed() {
      return failed;
    },
    measure: async (name, step) => {
      const start = performance.now();
      const before = processorSeconds();
      let note = 'FAILED';
      try {
        note = (await step()) ?? '';
      } catch (error) {
        failed ??= name;
        throw error;
      } finally {
        const seconds = (performance.now() - start) / 1_000;
        rows.push({ name, seconds, processor: Math.max(0, processorSeconds() - before), note });
        console.log(`${seconds.toFixed(1).padStart(6)} s  ${name}${note === '' ? '' : `: ${note}`}`);
      }
    },
    table: () => {
      const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
      const total = { name: 'all', seconds: sum(row => row.seconds), processor: sum(row => row.processor), note: '' };
      const width = Math.max(...rows.map(({ name }) => name.length), 4);
      const lines = [...rows, total].map(
        ({ name, seconds, processor, note }) =>
          `${name.padEnd(width)}  ${seconds.toFixed(1).padStart(7)}  ${processor.toFixed(1).padStart(9)}  ${note}`,
      );
      return [`${'step'.padEnd(width)}  seconds  processor`, ...lines].map(line => line.trimEnd()).join('\n');
    },
  };
}

/** Processor time of a process's children that have ended, and, if wanted, its own. In seconds; 0 where there is no `/proc`. */
function childrenSeconds(id: string, withOwn: boolean): number {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    const [own = 0, ownSystem = 0, children = 0, childrenSystem = 0] = stat
      .slice(stat.lastIndexOf(') ') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number);
    return (children + childrenSystem + (withOwn ? own + ownSystem : 0)) / ticksPerSecond;
  } catch {
    return 0;
  }
}

/** Linux counts processor time in hundredths of a second. */
const ticksPerSecond = 100;
