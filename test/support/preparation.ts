import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Work that a global set-up has begun. */
export interface Preparation {
  /** The file that tells its outcome once there is one. Suites are given its path. */
  readonly outcomeFile: string;
  /** Waits for its end, and removes the file. */
  stop(): Promise<void>;
}

/**
 * Begins what a global set-up prepares, and does not wait for it: no project's tests begin before all set-ups have ended, and others
 * need not wait for what is downloaded for one.
 *
 * @param prepare - resolves with what suites are told, as JSON.
 */
export function beginPreparation(prepare: () => Promise<unknown>): Preparation {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-preparation-'));
  const outcomeFile = path.join(folder, 'outcome.json');
  const preparing = prepare().then(
    value => write({ value }),
    (error: unknown) => write({ error: error instanceof Error ? error.message : String(error) }),
  );
  return {
    outcomeFile,
    stop: async () => {
      await preparing;
      rmSync(folder, { recursive: true });
    },
  };

  function write(outcome: object): void {
    writeFileSync(`${outcomeFile}.draft`, JSON.stringify(outcome));
    renameSync(`${outcomeFile}.draft`, outcomeFile);
  }
}

/** Waits for a preparation, and returns what it tells. @throws where it failed. */
export async function prepared<Value>(outcomeFile: string): Promise<Value> {
  for (;;) {
    const text = readIfThere(outcomeFile);
    if (text !== undefined) {
      const { value, error } = JSON.parse(text) as { readonly value?: Value; readonly error?: string };
      if (error !== undefined) throw new Error(error);
      return value as Value;
    }
    await pause(100);
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
