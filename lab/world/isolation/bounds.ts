import { minute, second } from '../times.ts';

/** The limits in the contract ("Tenants are isolated"), in milliseconds. They apply to 99th percentiles unless noted otherwise. */
export const bounds = {
  /** The extra wait of healthy accounts' first attempts and retries during an attack by one account. */
  nextToOne: second,
  /** The extra wait of healthy accounts' first attempts and retries during an attack by 50 accounts. */
  nextToFifty: 3 * second,
  /** The wait of deliveries to a webhook that responds in 3 s. */
  slowReceiver: 2 * minute,
  /** The maximum wait (not a percentile) in a burst to a healthy receiver. */
  healthyBurst: minute,
} as const;

/** The maximum number of in-flight attempts per webhook in the slow lane. */
export const maxInFlight = 120;
