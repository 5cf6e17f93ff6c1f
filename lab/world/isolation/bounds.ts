import { minute, second } from '../times.ts';

/** The bounds that the contract promises ("Tenants are isolated"), in milliseconds at the 99th percentile. */
export const bounds = {
  /** How much later first attempts and retries of other accounts come next to one account that attacks. */
  nextToOne: second,
  /** The same next to fifty accounts. */
  nextToFifty: 3 * second,
  /** The wait of a webhook that answers in 3 s. */
  slowReceiver: 2 * minute,
  /** The longest wait in a burst at a healthy receiver: no delivery is deferred by minutes. */
  healthyBurst: minute,
} as const;

/** The most attempts of one webhook that are in flight in the slow lane. */
export const maxInFlight = 120;
