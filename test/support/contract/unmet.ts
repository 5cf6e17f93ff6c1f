import type { Answered } from './responses.ts';

/** Whether an answer needs what a test of a healthy run cannot bring about. */
export function isBeyondTests({ status, code }: Answered): boolean {
  return status === '500' || code === 'gateway';
}
