import type { Violate } from '../../invariants/violation.ts';
import type { Evidence } from './evidence.ts';

/**
 * Checks each response against the state of the tables during the request. Requests without faults must be granted or
 * rejected, and no request may cause a 500.
 */
export function checkResponses({ requests, verdicts, isFaultFree }: Evidence, violate: Violate): void {
  for (const request of requests) {
    const { id, response, endpoint, form } = request;
    if (!response && isFaultFree(request)) violate('a process crashed without faults', id);
    if (!response) continue;
    const name = `${endpoint} ${form.grant_type ?? ''}`.trim();
    if (response.status === 500) violate(`${name}: internal error`, id);
    if (response.status >= 500) {
      if (isFaultFree(request)) violate(`${name}: failed without faults`, id);
      continue;
    }
    const verdict = verdicts.verdictOf(request);
    const isGranted = response.status === 200 && response.body.active !== false;
    if (isGranted && verdict === 'rejected') violate(`${name}: granted instead of rejected`, id);
    if (!isGranted && verdict === 'granted') violate(`${name}: rejected instead of granted`, id);
  }
}
