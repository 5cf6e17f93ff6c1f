import { describe, expect, it, vi } from 'vitest';
import { makeAttackBehaviours } from '../../chaos/attack-behaviours.ts';
import { type Attack, attacks, runAttack } from '../../chaos/attacks.ts';
import type { Registration } from '../../chaos/registrations.ts';

const attack: Attack = { name: 'an attack', accounts: 2, webhooks: 1, behaviour: 'hanging' };

/** Attacks for 30 ms. Returns what was asked of the service, by account. */
async function asked(changes: Partial<Attack>) {
  const calls: string[] = [];
  const attackers = ['a', 'b'].map(account => ({
    account,
    replace: async () => void calls.push(`PUT ${account}`),
    resend: async () => false,
  })) as unknown as Registration[];
  const publish = async ({ account }: Registration, count: number) => {
    calls.push(`${account} ${count}`);
    return ['evt'];
  };
  await runAttack({ publish }, { ...attack, ...changes }, attackers, 30);
  return calls.toSorted();
}

describe('an attack', () => {
  it('publishes evenly, one account after the other', async () => {
    expect(await asked({ rate: 100 })).toEqual([...Array(3).fill('a 1'), ...Array(3).fill('b 1')]);
  });

  it('publishes for all accounts at once, ten in a call, once or again and again', async () => {
    const once = ['a 10', 'a 10', 'a 5', 'b 10', 'b 10', 'b 5'];
    expect(await asked({ burst: 25 })).toEqual(once);
    expect(await asked({ burst: 25, burstEvery: 15 })).toEqual([...once, ...once].toSorted());
  });

  it('replaces each URL again and again', async () => {
    expect(await asked({ putEvery: 10 })).toEqual([...Array(3).fill('PUT a'), ...Array(3).fill('PUT b')]);
  });

  it('fails where no resend is accepted: that would measure an attack that never was', async () => {
    await expect(asked({ rate: 100, resends: 1 })).rejects.toThrow('No resend was accepted');
  });

  it('has a name of its own, and no more webhooks in an account than there are events', () => {
    expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
    expect(attacks.every(({ webhooks }) => webhooks <= 8)).toBe(true);
  });
});

describe('the receiver of an attack', () => {
  it('fails at once for a minute, then hangs', () => {
    vi.useFakeTimers();
    try {
      const { failingThenHanging } = makeAttackBehaviours(100, 60_000);
      const answerNow = () => {
        const writeHead = vi.fn(() => ({ end: () => undefined }));
        failingThenHanging.answer({ response: { writeHead }, request: {}, earlier: 0 } as never);
        vi.advanceTimersByTime(30_000);
        return writeHead.mock.calls;
      };
      expect([answerNow(), answerNow(), answerNow()]).toEqual([[[500]], [[500]], []]);
    } finally {
      vi.useRealTimers();
    }
  });
});
