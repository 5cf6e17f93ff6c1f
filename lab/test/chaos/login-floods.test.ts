import { expect, it } from 'vitest';
import { describeLoginFloods, type LoginFloodResult } from '../../chaos/login-floods.ts';

const logins = (refused: number) => ({ times: [40, 50, 60], refused });

const result = (changes: Partial<LoginFloodResult>): LoginFloodResult => ({
  flooded: 'public',
  path: '/unknown',
  alone: logins(0),
  beside: logins(0),
  sent: 1_500,
  throttled: 1_470,
  ...changes,
});

it.each([
  ['no login is refused', {}, false],
  ['a flood of another path has a login refused', { beside: logins(1) }, true],
  ['a flood of the token endpoint has its own refused', { flooded: 'token', beside: logins(9) } as const, false],
  ['logins are refused alone', { flooded: 'token', alone: logins(1) } as const, true],
  ['nothing was throttled, so that it was no flood', { throttled: 0 }, true],
])('%s', (_case, changes, expected) => {
  const { text, isHeld } = describeLoginFloods([result({}), result(changes)]);
  expect(isHeld).toBe(!expected);
  expect(text.includes('TAKEN')).toBe(expected);
});

it('the table tells what was sent and passed, and the logins alone and beside', () => {
  const { text } = describeLoginFloods([result({ beside: { times: [100, 200, 900], refused: 1 } })]);
  expect(text.split('\n').at(-1)).toBe(
    '| public: `/unknown` | 100 | 2 | 50 | 60 | 0 of 3 | 200 | 900 | 1 of 4 | TAKEN |',
  );
});
