import * as z from 'zod';
import { command, type Noun } from '../audit/command.ts';
import { argument, jsonOutput, option, variadicArgument } from '../command-line/arg-spec.ts';
import { messageId, wholeNumber } from '../command-line/forms.ts';
import { iso, makeFormatter, printable } from '../command-line/report.ts';
import { interruptible } from '../command-line/until-interrupted.ts';
import { copyKey, type DeadLetter, inFlightElsewhere, openQueues } from '../stage/queues.ts';
import { counted } from '../stage/sentences.ts';
import { interrupted, noDeadLetter, type RemainingDeadLetter } from './no-dead-letter.ts';
import { maxDeadLetters, redrive, warnOfOthers } from './redrive.ts';

const examples = `
The id of a message is the id with which it was published. Copies of a message are shown, redriven and discarded together.
If a command warns that another command is reading messages, run it again. Only the publisher can fix a malformed message or
an unknown event. Once it is fixed, discard the message. The alarm fires while the queue has messages.

Examples:
  npm run ops -- dlq list
  npm run ops -- dlq show 87d3a375-8574-4978-998f-80aa10f241f1
  npm run ops -- dlq discard 87d3a375-8574-4978-998f-80aa10f241f1
  npm run ops -- dlq discard --reason malformed --yes
  npm run ops -- --stage prod dlq redrive --rate 5 --limit 1000`;

/** A dead-letter message, with the number of received copies, including the message itself. */
interface ListedDeadLetter extends DeadLetter {
  readonly copies: number;
}

const deadLetter = makeFormatter<ListedDeadLetter>([
  { json: 'messageId', heading: 'message', column: 'message id', value: ({ origin }) => origin.messageId },
  { json: 'body' },
  { json: 'sentAt', heading: 'sent', value: ({ origin }) => iso(origin.sentAt) },
  { heading: 'sender', in: 'show', value: ({ sender }) => sender },
  { json: 'reason', heading: 'reason', text: ({ reason }) => reason ?? 'received too many times' },
  { json: 'detail', heading: 'detail' },
  { json: 'sender' },
  { json: 'copies', heading: 'copies', text: ({ copies }) => (copies > 1 ? `${copies}` : undefined) },
]);

const remainingDeadLetter = makeFormatter<RemainingDeadLetter>([
  { heading: 'message id', value: ({ messageId }) => messageId },
  { heading: 'reason', value: ({ detail }) => detail },
]);

/** Lists dead-letter messages, and combines copies. Only the JSON output contains bodies. */
const listDeadLetters = command('dlq list', {
  description: 'list messages with the reasons why they could not be processed; --json also shows their bodies',
  args: { limit: option('<n>', 'show at most n messages', wholeNumber(1, 10_000), 100), bodies: jsonOutput },
  effect: 'discloses',
  isAudited: ({ bodies }) => bodies,
  act: (task, { limit, bodies }) =>
    interruptible(task, async ({ target, progress, warn, recordResult, interruption }) => {
      const queues = openQueues(target);
      const deadLetters = new Map<string, ListedDeadLetter>();
      const before = await queues.countInFlight();
      let [readCount, isCutOff] = [0, false];
      for await (const found of queues.deadLetters(limit + 1, { interruption })) {
        isCutOff = readCount++ === limit;
        if (isCutOff) break;
        const key = copyKey(found);
        const copies = (deadLetters.get(key)?.copies ?? 0) + 1;
        deadLetters.set(key, { ...found, body: bodies ? found.body : '', copies });
        progress(`Found ${deadLetters.size} messages so far`);
      }
      const after = await queues.countInFlight();
      const inFlight = deadLetters.size === 0 ? Math.max(before, after) : Math.min(before, after);
      if (inFlight > 0) warn(inFlightElsewhere(inFlight));
      recordResult({ count: deadLetters.size });
      return { deadLetters: [...deadLetters.values()], inFlight, isCutOff };
    }),
  report: ({ deadLetters, inFlight, isCutOff }) => {
    const none = inFlight === 0 ? 'The dead-letter queue is empty.' : 'The dead-letter queue returned no messages.';
    return deadLetter.list(none, isCutOff)(deadLetters);
  },
});

/** Moves dead-letter messages that can be processed now back to their queue. The other messages stay. */
export const redriveDeadLetters = command('dlq redrive', {
  description: 'move messages that can be processed now back to their queue; the others stay',
  args: {
    ids: variadicArgument('message-id', 'the messages to move (default: all)', messageId),
    rate: option('<n>', 'the number of messages a second', wholeNumber(1, 1_000), 10),
    limit: option('<n>', 'move at most n messages', wholeNumber(1, 1_000_000), 1_000),
  },
  effect: 'writes',
  act: (task, args) => interruptible(task, interruptibleTask => redrive(interruptibleTask, args)),
  subject: (_task, { ids }) => (ids.length > 0 ? { messages: ids } : {}),
  report: ({ moved, kept, inFlight, isCutOff, next }) => {
    const further = isCutOff ? ` Other messages were not read. ${next}` : '';
    const remainingTable = kept.length === 0 ? '' : `\n\n${remainingDeadLetter.table(kept, '')}`;
    const more = `\n\nAnother command may be reading about ${inFlight} more messages. They reappear when it ends.`;
    const text = `Moved ${moved}, kept ${kept.length}.${further}${remainingTable}${inFlight === 0 ? '' : more}`;
    return { json: { moved, kept, inFlight, isCutOff }, text };
  },
});

const showDeadLetter = command('dlq show', {
  description: 'show a message with its body and sender',
  args: { message: argument('message-id', 'the id of the message', messageId) },
  effect: 'discloses',
  act: (task, { message }) =>
    interruptible(task, async ({ target, interruption }) => {
      const queues = openQueues(target);
      const before = await queues.countInFlight();
      const found: DeadLetter[] = [];
      for await (const one of queues.deadLetters(maxDeadLetters, { interruption })) {
        if (one.origin.messageId === message) found.push(one);
      }
      const [first] = found;
      if (!first) throw noDeadLetter([message], Math.max(before, await queues.countInFlight()));
      return { ...first, copies: found.length };
    }),
  subject: (_task, { message }) => ({ messages: [message] }),
  report: found => {
    const { json, text } = deadLetter.show(found);
    return { json, text: `${text}\n\n${printable(found.body)}` };
  },
});

/** Permanently deletes dead-letter messages. Returns their number, with copies counted once. */
const discardDeadLetters = command('dlq discard', {
  description: 'permanently delete messages by their ids, or all messages that were rejected for a reason',
  notes: examples,
  args: {
    ids: variadicArgument('message-id', 'the messages to delete', messageId),
    reason: option('<reason>', 'all messages rejected for this reason', z.enum(['malformed', 'unknown_event'])),
  },
  validate: ({ ids, reason }) =>
    (ids.length === 0) === (reason === undefined) && 'Specify the messages to discard: their ids, or --reason.',
  effect: 'writes',
  act: (task, { ids, reason }) =>
    interruptible(task, async ({ target, progress, confirm, warn, recordResult, recordTarget, interruption }) => {
      const selection =
        reason === undefined
          ? `${counted(ids.length, 'message')} (${ids.join(', ')})`
          : `all messages rejected as ${reason}`;
      await confirm(`This permanently deletes ${selection} from the dead-letter queue of ${target.label}.`);
      const queues = openQueues(target);
      const missing = new Set(ids);
      const removed = new Set<string>();
      const before = await queues.countInFlight();
      let readCount = 0;
      for await (const found of queues.deadLetters(maxDeadLetters)) {
        if (interruption?.aborted) {
          if (reason === undefined && missing.size === 0) break; // the remaining messages can only be copies
          throw interrupted('discard', missing);
        }
        readCount += 1;
        progress(`Read ${readCount} messages, discarded ${removed.size}`);
        if (!(reason === undefined ? ids.includes(found.origin.messageId) : found.reason === reason)) continue;
        await queues.remove(found);
        if (!removed.has(copyKey(found))) recordTarget('messages', found.origin.messageId);
        removed.add(copyKey(found));
        recordResult({ count: removed.size });
        missing.delete(found.origin.messageId);
      }
      warnOfOthers(readCount, warn);
      const inFlight = Math.max(before, await queues.countInFlight());
      if (reason !== undefined && inFlight > 0) warn(inFlightElsewhere(inFlight));
      if (missing.size === 0) return removed.size;
      throw noDeadLetter([...missing], inFlight);
    }),
  subject: (_task, { ids, reason }) => (reason === undefined ? { messages: ids } : { all: reason }),
  report: count => ({ json: { discarded: count }, text: `Discarded ${counted(count, 'message')}.` }),
});

export const dlq: Noun = {
  name: 'dlq',
  description: 'messages that could not be processed: list, show, redrive, discard',
  notes: examples,
  commands: [listDeadLetters, redriveDeadLetters, showDeadLetter, discardDeadLetters],
};
