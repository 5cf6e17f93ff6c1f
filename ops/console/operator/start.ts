import { isUnread, type Part } from '../../stage/operator.ts';
import type { Task } from '../../stage/target.ts';
import { readStatus, type Status } from '../../status/status.command.ts';
import type { WebhooksView } from '../../status/status-facts.ts';

/** Makes the part of an operator's source that says what needs somebody. */
export function operatorStart(task: Task) {
  return { readStart: async () => startView(await readStatus.act(task, {})) };
}

/** The things that need somebody, the state of the others, and why parts could not be read. */
export type StartView = ReturnType<typeof startView>;

function startView({ problems, stacks, queues, webhooks, alarms, keys }: Status) {
  const troubled = ifRead(webhooks);
  return {
    problems,
    queues: (ifRead(queues) ?? []).map(({ queue, waiting, inFlight, delayed }) => ({
      name: queue,
      waiting,
      inFlight,
      delayed,
    })),
    webhooks: troubled ? troubledWebhooks(troubled) : [],
    alarms: ifRead(alarms)?.ringing ?? [],
    keys: ifRead(keys) ?? [],
    // A local run has no alarms that could be read.
    unread: [queues, webhooks, keys, ...(stacks ? [alarms] : [])].flatMap(part => (isUnread(part) ? part.unread : [])),
  };
}

function ifRead<Value>(part: Part<Value>): Value | undefined {
  return isUnread(part) ? undefined : part;
}

function troubledWebhooks({ suspended, failing }: WebhooksView) {
  return [
    ...suspended.map(({ account, event, since }) => ({ account, event, what: 'suspenso', since })),
    ...failing.map(({ account, event, since }) => ({ account, event, what: 'failing', since })),
  ];
}
