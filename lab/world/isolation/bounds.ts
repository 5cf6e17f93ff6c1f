import { minute, second } from '../times.ts';

/** The limits of the contract ("Tenants are isolated"), in milliseconds at the 99th percentile. */
export const bounds = {
  /** The extra wait of other accounts' first attempts and retries next to one attacking account. */
  nextToOne: second,
  /** The extra wait of first attempts and retries of other accounts next to fifty attacking accounts. */
  nextToFifty: 3 * second,
  /** The wait of a webhook that responds in 3 s. */
  slowReceiver: 2 * minute,
  /** The maximum wait in a burst to a healthy receiver. No delivery is deferred by minutes. */
  healthyBurst: minute,
} as const;

/** The maximum attempts of one webhook in flight in the slow lane. */
export const maxInFlight = 120;
