/** The names of log lines (`area.event`), by area. They are stable, because queries use them. `docs/logs.md` describes them. */
export const logNames = {
  api: ['dependency_busy', 'failed', 'refused', 'request'],
  delivery: [
    'attempt',
    'cancelled',
    'held',
    'moved',
    'not_sent',
    'outcome_not_stored',
    'overdue',
    'shed',
    'stale',
    'too_old',
    'unrecorded',
  ],
  dependency: ['unavailable'],
  event: ['conflicting_copy', 'duplicate', 'not_noted', 'rejected', 'without_webhook'],
  invocation: ['failed'],
  introspect: ['granted', 'refused'],
  keys: ['rotated'],
  message: ['deferred', 'not_deleted', 'not_received', 'visibility_unchanged'],
  notice: ['not_sent'],
  password: ['unverifiable'],
  replay: ['ended', 'not_started'],
  request: ['failed'],
  retry: ['rejected'],
  revoke: ['granted', 'refused'],
  smoke: ['failed', 'passed'],
  token: ['granted', 'refused'],
  version: ['checked', 'failed'],
  webhook: ['announced', 'health_not_stored', 'quick_again', 'slow', 'slowness_not_stored', 'suspended'],
} as const;

export type LogName = {
  [Area in keyof typeof logNames]: `${Area}.${(typeof logNames)[Area][number]}`;
}[keyof typeof logNames];
