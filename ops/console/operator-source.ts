import { describeError } from '../stage/operator.ts';
import type { Target, Task } from '../stage/target.ts';
import { operatorDeadLetters } from './operator/dead-letters.ts';
import { operatorDeliveries } from './operator/deliveries.ts';
import { operatorEvents } from './operator/events.ts';
import { makeSandbox } from './operator/sandbox.ts';
import { operatorStart } from './operator/start.ts';
import { operatorWebhooks } from './operator/webhooks.ts';
import type { Source } from './source.ts';
import { Refusal } from './views.ts';

/**
 * Makes the source of an operator's pages: the actions of the command line, with the operator's own credentials. What the command
 * line audits is audited here too. A page asks before what a command would ask at the terminal.
 */
export function makeOperatorSource(target: Target): Source {
  const isLocal = target.deployed === undefined;
  const task = taskOf(target);
  const { suspend, ...webhooks } = operatorWebhooks(task);
  const receiver = target.outputs.ReceiverUrl;
  return {
    label: isLocal ? null : target.label,
    // Every look at a stage is paid for: pages that renew each 5 s would cost dollars a day.
    refreshSeconds: isLocal ? 5 : 60,
    mayChange: true,
    describeFailure,
    now: target.clock.now,
    ...webhooks,
    ...operatorDeliveries(task),
    operator: {
      suspend,
      ...operatorStart(task),
      ...operatorEvents(task),
      ...operatorDeadLetters(task),
      ...(receiver !== undefined && { sandbox: makeSandbox(task, receiver) }),
    },
  };

  /** Describes a failure of an action as the command line does. */
  function describeFailure(error: unknown): string {
    return error instanceof Refusal ? error.message : describeError(error, target.unreachable);
  }
}

function taskOf(target: Target): Task {
  return {
    target,
    progress: () => {},
    tell: () => {},
    warn: text => process.stderr.write(`warning: ${text}\n`),
    confirm: async () => {},
    askPassword: () => Promise.reject(new Refusal('Passwords are set at the terminal.')),
    interruption: new AbortController().signal, // the console itself hears signals, and ends after what it is at
  };
}
