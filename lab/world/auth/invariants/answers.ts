import type { Violate } from '../../invariants/violation.ts';
import type { Evidence } from './evidence.ts';

/**
 * Judges each response by the state of the tables during the request. Grants and refusals are correct, calm requests
 * get a response, and no response is unexpected.
 */
export function judgeAnswers({ requests, verdicts, isCalm }: Evidence, violate: Violate): void {
  for (const request of requests) {
    const { id, answer, endpoint, form } = request;
    if (!answer && isCalm(request)) violate('a process died in calm', id);
    if (!answer) continue;
    const name = `${endpoint} ${form.grant_type ?? ''}`.trim();
    if (answer.status === 500) violate(`${name}: unforeseen`, id);
    if (answer.status >= 500) {
      if (isCalm(request)) violate(`${name}: not answered in calm`, id);
      continue;
    }
    const verdict = verdicts.verdictOf(request);
    const isGranted = answer.status === 200 && answer.body.active !== false;
    if (isGranted && verdict === 'refused') violate(`${name}: granted what had to be refused`, id);
    if (!isGranted && verdict === 'granted') violate(`${name}: refused what had to be granted`, id);
  }
}
