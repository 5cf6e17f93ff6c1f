import { Command } from 'commander';
import { expect, it, vi } from 'vitest';
import { command } from '../../../../ops/audit/command.ts';
import { moment } from '../../../../ops/command-line/forms.ts';
import type { Run } from '../../../../ops/command-line/run.ts';
import { option, required, timed } from '../../../../ops/command-line/words.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { aTask } from '../a-task.ts';

// Bug: `audit list --since 1h` was told of nothing, on a machine whose clock was two hours ahead.
it.each([
  ['1h', '2026-11-21T09:00:00Z'],
  ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00Z'],
])('reckons --since %s by the time of the target, for the action and for its report', async (since, expected) => {
  const seen: unknown[] = [];
  const list = command('things list', {
    about: 'list things',
    given: { since: timed(option('<time>', 'from then on', moment)), until: timed(option('<time>', 'to', moment)) },
    effect: 'reads',
    act: async (_task, given) => void seen.push(given),
    report: (_value, given) => ({ json: seen.push(given), text: '' }),
  });
  const target = localTarget({});
  const clock = { ...target.clock, now: () => Date.parse('2026-11-21T10:00:00Z') };
  const run: Run = async (act, report) => void report(await act(aTask({ ...target, clock })), target);
  const noun = new Command('things');
  list.addTo(noun, run);
  await noun.parseAsync(['list', '--since', since], { from: 'user' });
  expect(seen).toEqual([{ since: Date.parse(expected) }, { since: Date.parse(expected) }]);
});

// Bug: a span that is good by AWS's time was no command, on a machine whose clock was three hours ahead.
it.each([
  ['1h', '2026-11-21T09:30:00Z', undefined],
  ['1h', '2026-11-21T08:30:00Z', 'CliError'],
  ['2026-11-21T09:30:00Z', '30m', 'CliError'],
  ['1h', '2h', 'CommanderError'],
  ['2026-11-21T09:30:00Z', '2026-11-21T09:00:00Z', 'CommanderError'],
])('judges a span from %s to %s by AWS’s time where it depends on it', async (since, until, name) => {
  const when = (about: string) => timed(required('<time>', about, moment));
  const list = command('things list', {
    about: 'list things',
    given: { since: when('from then on'), until: when('to') },
    refuse: given => given.until <= given.since && 'no span',
    effect: 'reads',
    act: async () => 1,
    report: () => ({ json: 1, text: '' }),
  });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-21T13:00:00Z') });
  const target = localTarget({});
  const clock = { ...target.clock, now: () => Date.parse('2026-11-21T10:00:00Z') };
  const noun = new Command('things').exitOverride().configureOutput({ writeErr: () => {} });
  list.addTo(noun, async act => void (await act(aTask({ ...target, clock }))));
  const typed = noun.parseAsync(['list', '--since', since, '--until', until], { from: 'user' });
  const error = await typed.then(
    () => undefined,
    reason => reason,
  );
  vi.useRealTimers();
  expect(error?.constructor.name).toBe(name);
});
