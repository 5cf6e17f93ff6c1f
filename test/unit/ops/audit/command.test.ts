import { Command } from 'commander';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { command } from '../../../../ops/audit/command.ts';
import { option, timed } from '../../../../ops/command-line/arg-spec.ts';
import { moment } from '../../../../ops/command-line/forms.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { aTask } from '../a-task.ts';

// A relative time on a command line refers to AWS's time, from the target. Here the local clock is three hours ahead.

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-21T13:00:00Z') }));
afterEach(() => void vi.useRealTimers());

/** Runs a command with a span. Returns the input of its action and its report, and the name of its error. */
async function runWith(...words: readonly string[]) {
  const seen: unknown[] = [];
  const list = command('things list', {
    description: 'list things',
    given: { since: timed(option('<time>', 'from then on', moment)), until: timed(option('<time>', 'to', moment)) },
    refuse: ({ since = 0, until = Number.MAX_SAFE_INTEGER }) => until <= since && 'no span',
    effect: 'reads',
    act: async (_task, given) => void seen.push(given),
    report: (_value, given) => ({ json: seen.push(given), text: '' }),
  });
  const target = localTarget({});
  const clock = { ...target.clock, now: () => Date.parse('2026-11-21T10:00:00Z') };
  const noun = new Command('things').exitOverride().configureOutput({ writeErr: () => {} });
  list.addTo(noun, async (act, report) => void report(await act(aTask({ ...target, clock })), target));
  const error = await noun.parseAsync(['list', ...words], { from: 'user' }).then(
    () => undefined,
    reason => reason.constructor.name,
  );
  return { seen, error };
}

it.each([
  ['1h', '2026-11-21T09:00:00Z'],
  ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00Z'],
])('resolves --since %s by the target’s clock, for the action and for its report', async (since, expected) => {
  const given = { since: Date.parse(expected) };
  expect(await runWith('--since', since)).toEqual({ seen: [given, given], error: undefined });
});

it.each([
  ['1h', '2026-11-21T09:30:00Z', undefined],
  ['1h', '2026-11-21T08:30:00Z', 'CliError'],
  ['2026-11-21T09:30:00Z', '30m', 'CliError'],
  ['1h', '2h', 'CommanderError'],
  ['2026-11-21T09:30:00Z', '2026-11-21T09:00:00Z', 'CommanderError'],
])('validates the span from %s to %s by AWS’s time if it depends on it', async (since, until, error) => {
  expect(await runWith('--since', since, '--until', until)).toMatchObject({ error });
});
