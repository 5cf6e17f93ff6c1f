import type { ReceiverBehaviour, Visit } from './receiver-behaviours.ts';

/** The receivers of an isolation measurement: of those who are measured, and of attackers. */
export type AttackBehaviours = Readonly<Record<BehaviourName, ReceiverBehaviour>>;

/** The behaviours of an attack's receivers. */
export type AttackBehaviourName = Exclude<BehaviourName, 'quick' | 'failing'>;

/**
 * Makes the receivers of one run.
 *
 * @param answersAfter - how long healthy receivers take to answer, in milliseconds.
 * @param failsFor - for how long the one that fails before it hangs does so, from its first request on.
 */
export function makeAttackBehaviours(answersAfter: number, failsFor: number): AttackBehaviours {
  let hangsFrom: number | undefined;
  return {
    quick: delivered('quick', visit => answer(visit, 204, answersAfter)),
    failing: {
      name: 'failing once',
      state: 'delivered',
      results: ['http', 'delivered'],
      answer: visit => answer(visit, visit.earlier === 0 ? 500 : 204, answersAfter),
    },
    hanging: failed('hanging', () => undefined),
    halfHanging: {
      name: 'hanging half of the time',
      state: 'delivered',
      results: ['timeout', 'delivered'],
      answer: visit => {
        if (Math.random() < 0.5) answer(visit, 204, answersAfter);
      },
    },
    hangingOnce: {
      name: 'hanging once',
      state: 'delivered',
      results: ['timeout', 'delivered'],
      answer: visit => {
        if (visit.earlier > 0) answer(visit, 204, answersAfter);
      },
    },
    almostSlow: delivered('almost slow', visit => answer(visit, 204, 1_900)),
    failingThenHanging: failed('failing, then hanging', visit => {
      hangsFrom ??= Date.now() + failsFor;
      if (Date.now() < hangsFrom) answer(visit, 500, 0);
    }),
    stalling: {
      ...failed('name of 1.9 s, and no TLS handshake', visit => answer(visit, 500, 0)),
      hostDelays: { resolvesAfter: 1_900, handshakeAfter: 3_600_000 },
    },
  };
}

type BehaviourName =
  | 'quick'
  | 'failing'
  | 'hanging'
  | 'halfHanging'
  | 'hangingOnce'
  | 'almostSlow'
  | 'failingThenHanging'
  | 'stalling';

function answer({ response }: Visit, status: number, after: number): void {
  setTimeout(() => response.writeHead(status).end(), after);
}

function delivered(name: string, respond: (visit: Visit) => void): ReceiverBehaviour {
  return { name, state: 'delivered', results: ['delivered'], answer: respond };
}

function failed(name: string, respond: (visit: Visit) => void): ReceiverBehaviour {
  return { name, state: 'failed', results: ['timeout', 'http'], answer: respond };
}
