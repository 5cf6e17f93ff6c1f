import type { Violate } from '../../invariants/violation.ts';
import type { Evidence } from './evidence.ts';

/**
 * Checks each response against the tables during the request. Grants and rejections must be correct. Requests without
 * faults must succeed or be rejected, and no request may cause a 500.
 */
export function judgeAnswers({ requests, verdicts, isCalm }: Evidence, violate: Violate): void {
  for (const request of requests) {
    const { id, answer, endpoint, form } = request;
    if (!answer && isCalm(request)) violate('a process crashed without faults', id);
    if (!answer) continue;
    const name = `${endpoint} ${form.grant_type ?? ''}`.trim();
    if (answer.status === 500) violate(`${name}: internal error`, id);
    if (answer.status >= 500) {
      if (isCalm(request)) violate(`${name}: failed without faults`, id);
      continue;
    }
    const verdict = verdicts.verdictOf(request);
    const isGranted = answer.status === 200 && answer.body.active !== false;
    if (isGranted && verdict === 'refused') violate(`${name}: granted instead of rejected`, id);
    if (!isGranted && verdict === 'granted') violate(`${name}: rejected instead of granted`, id);
  }
}
