import { Command } from 'commander';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { command } from '../../../../ops/audit/command.ts';
import { option, timed } from '../../../../ops/command-line/arg-spec.ts';
import { time } from '../../../../ops/command-line/forms.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { aTask } from '../a-task.ts';

// A relative time on a command line is relative to the target's clock. In these tests, the local clock is 3 hours ahead.

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-21T13:00:00Z') }));
afterEach(() => void vi.useRealTimers());

/** Runs a command with a time range. Returns the input of its action and its report, and the name of its error. */
async function runWith(...words: readonly string[]) {
  const inputs: unknown[] = [];
  const list = command('things list', {
    description: 'list things',
    args: { since: timed(option('<time>', 'the start', time)), until: timed(option('<time>', 'the end', time)) },
    validate: ({ since = 0, until = Number.MAX_SAFE_INTEGER }) => until <= since && 'empty range',
    effect: 'reads',
    act: async (_task, args) => void inputs.push(args),
    report: (_value, args) => ({ json: inputs.push(args), text: '' }),
  });
  const target = localTarget({});
  const clock = { ...target.clock, now: () => Date.parse('2026-11-21T10:00:00Z') };
  const noun = new Command('things').exitOverride().configureOutput({ writeErr: () => {} });
  list.addTo(noun, async (act, report) => void report(await act(aTask({ ...target, clock })), target));
  const error = await noun.parseAsync(['list', ...words], { from: 'user' }).then(
    () => undefined,
    reason => reason.constructor.name,
  );
  return { inputs, error };
}

it.each([
  ['1h', '2026-11-21T09:00:00Z'],
  ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00Z'],
])('resolves --since %s with the target’s clock for the action and the report', async (since, expected) => {
  const args = { since: Date.parse(expected) };
  expect(await runWith('--since', since)).toEqual({ inputs: [args, args], error: undefined });
});

it.each([
  ['1h', '2026-11-21T09:30:00Z', undefined],
  ['1h', '2026-11-21T08:30:00Z', 'CliError'],
  ['2026-11-21T09:30:00Z', '30m', 'CliError'],
  ['1h', '2h', 'CommanderError'],
  ['2026-11-21T09:30:00Z', '2026-11-21T09:00:00Z', 'CommanderError'],
])('validates the range from %s to %s with the target’s clock if a time is relative', async (since, until, error) => {
  expect(await runWith('--since', since, '--until', until)).toMatchObject({ error });
});
