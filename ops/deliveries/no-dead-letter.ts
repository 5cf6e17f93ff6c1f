import { CliError } from '../stage/operator.ts';
import { inFlightElsewhere } from '../stage/queues.ts';

/** Returns the error about messages that the queue did not return. They are gone, or another program has them in flight. */
export function noDeadLetter(missing: readonly string[], inFlight: number): CliError {
  const hint = inFlight === 0 ? '"dlq list" lists all messages' : inFlightElsewhere(inFlight);
  return new CliError(`The dead-letter queue has no message ${missing.join(', ')}: ${hint}.`);
}

/** Returns the error for an interrupted command. It contains the command for the remaining messages. */
export function interrupted(verb: 'redrive' | 'discard', missing: ReadonlySet<string>): CliError {
  return new CliError(`Interrupted. ${continueCommand(verb, missing, 'the others')}`);
}

/** Returns the command that continues with the remaining messages. */
export function continueCommand(verb: 'redrive' | 'discard', missing: ReadonlySet<string>, others = 'them'): string {
  const again = missing.size === 0 ? 'Run the same command again' : `Run "dlq ${verb} ${[...missing].join(' ')}"`;
  return `${again} to continue with ${others}.`;
}

/** A message that cannot be processed now, and the reason. */
export interface RemainingDeadLetter {
  readonly messageId: string;
  readonly detail: string;
}
