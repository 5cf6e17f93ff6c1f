import type { Answered } from './responses.ts';

/** Returns whether no test of a healthy run can bring an answer about, nor see it. */
export function isBeyondTests({ operation, status, code }: Answered): boolean {
  return beyond.some(({ applies }) => applies(operation, status, code));
}

/** The reason why some described answers need not be met. Unit tests are about the first three. */
const beyond: readonly {
  readonly why: string;
  readonly applies: (operation: string, status: string, code: string) => boolean;
}[] = [
  { why: 'Nothing unforeseen happens.', applies: (_, status) => status === '500' },
  { why: 'No dependency is busy, and nobody else changes the same webhook.', applies: (_, status) => status === '503' },
  {
    why: 'A local run, and the stages of tests, let 100,000 failures a minute pass.',
    applies: (_, __, code) => code === 'ip_rate_limit' || code === 'client_rate_limit',
  },
  {
    why: 'The gateway throttles nobody here, and its other refusals are AWS’s.',
    applies: (_, __, code) => code === 'gateway',
  },
  {
    why: 'HEAD does not show which of a status it is, and these are the gateway’s.',
    applies: (operation, status) => operation.endsWith('Head') && ['413', '429', '431'].includes(status),
  },
  {
    why: '`fetch` sends no body with GET.',
    applies: (operation, _, code) => /^(?:list|get)/.test(operation) && code === 'payload_too_large',
  },
];
