import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { confirm, makeProgress } from '../../../../ops/command-line/terminal.ts';

const consequences = 'This invalidates every access token of stage prod.';

/** Asks for confirmation at a terminal with `typed` as input, or without a terminal. */
const json = async (typed: string | undefined, yes = false) => {
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined });
  const stderr = new PassThrough();
  stdin.end(typed ?? '');
  const answer = await confirm(consequences, yes, { stdin, stderr }).then(
    () => 'confirmed',
    (error: Error) => `${error.name}: ${error.message}`,
  );
  return { answer, shown: String(stderr.read() ?? '') };
};

describe('a command that ends sessions or cannot be undone', () => {
  it('runs if the operator types yes', async () => {
    expect(await json(' yes \n')).toEqual({ answer: 'confirmed', shown: expect.stringContaining(consequences) });
  });

  it.each(['no\n', 'y\n', 'YES\n', '\n', 'yes please\n', ''])('does not run after %j', async typed => {
    expect((await json(typed)).answer).toBe('CliError: Cancelled. No changes were made.');
  });

  it('fails without a terminal', async () => {
    const failure = `CliError: ${consequences} There is no terminal. Add --yes to confirm.`;
    expect((await json(undefined)).answer).toBe(failure);
  });

  it('runs without a question if --yes is set', async () => {
    for (const typed of ['no\n', undefined])
      expect(await json(typed, true)).toEqual({ answer: 'confirmed', shown: '' });
  });
});

/** Returns the output for progress texts at these times. */
const written = (isTTY: boolean, times: readonly number[]): string[] => {
  const lines: string[] = [];
  let time = 0;
  const output = { isTTY, write: (text: string) => lines.push(text) > 0 };
  const progress = makeProgress(output, () => time);
  for (time of times) progress.show(`at ${time}`);
  progress.clear();
  return lines;
};

describe('progress', () => {
  const erase = '\r\u001b[K';
  it.each([
    ['hidden in the first second', false, [0, 500, 999], []],
    ['hidden in the first second at a terminal', true, [0, 500, 999], []],
    ['shown as a line every 5 seconds', false, [0, 1_000, 2_000, 5_999, 6_000, 7_000], ['at 1000\n', 'at 6000\n']],
    ['shown as one line at a terminal', true, [0, 1_000, 1_500], [`${erase}at 1000`, `${erase}at 1500`, erase]],
  ])('is %s', (_what, isTTY, times, lines) => {
    expect(written(isTTY, times)).toEqual(lines);
  });
});
