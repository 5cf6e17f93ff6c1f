/** Says whether a request may pass now, and counts it if so. */
export type Throttle = () => boolean;

/** A stage's throttling: requests a second in the long run, and at once. */
export interface ThrottleSettings {
  readonly rate: number;
  readonly burst: number;
}

/** The token bucket of API Gateway: it holds `burst` tokens and gains `rate` a second. */
export function makeThrottle({ rate, burst }: ThrottleSettings, now: () => number): Throttle {
  let tokens = burst;
  let filledAt = now();
  return function throttle() {
    const moment = now();
    tokens = Math.min(burst, tokens + ((moment - filledAt) / 1000) * rate);
    filledAt = moment;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
