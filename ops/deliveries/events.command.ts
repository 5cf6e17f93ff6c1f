import { isDeliveryId } from '../../lambdas/delivery/delivery.ts';
import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import { command, type Noun } from '../audit/command.ts';
import {
  accountId,
  deliveryOrMessageId,
  moment,
  momentForms,
  publishedName,
  publishersId,
  wholeNumber,
} from '../command-line/forms.ts';
import { iso, makeShape } from '../command-line/report.ts';
import { interruptible } from '../command-line/until-interrupted.ts';
import { option, optionalArgument, required, timed } from '../command-line/words.ts';
import { CliError } from '../stage/operator.ts';
import { standInQueue } from '../stage/queues.ts';
import { type AccountEvent, listAccountEvents } from './account-events.ts';
import { delivery as deliveryShape, reportDelivery } from './deliveries.command.ts';
import { type EventReference, type FoundEvent, findPublished } from './events.ts';

const examples = `
An event is named by the webhook-id of its delivery, by the id of its message, or by account, event and the publisher's id.
The verdict is one of: delivered, waiting, failed, held, cancelled, no webhook, refused, unknown. What had no webhook, or was
refused, stands in no table: the logs of the functions that deliver are searched then, as far back as it is kept
(the stage's logRetentionDays), and so is the dead-letter queue. The answer says how far that was; --since saves time, and
what CloudWatch charges for reading.

Examples:
  npm run ops -- events find evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H
  npm run ops -- events find 87d3a375-8574-4978-998f-80aa10f241f1
  npm run ops -- --stage prod events find --account acme --event demanda.criada --id order-981`;

const event = makeShape<FoundEvent>([
  { json: 'verdict', heading: 'verdict' },
  { json: 'why', heading: 'why' },
  {
    json: 'deliveryId',
    heading: 'delivery',
    text: ({ delivery, deliveryId = '-' }) => (delivery ? undefined : deliveryId),
  },
  {
    json: 'messageId',
    heading: 'message',
    text: ({ delivery, messageId = '-' }) => (delivery ? undefined : messageId),
  },
  { json: 'delivery', value: ({ delivery }) => delivery && deliveryShape.json(delivery) },
  { json: 'logSince', value: ({ logSince }) => iso(logSince) },
]);

const listed = makeShape<AccountEvent>([
  { json: 'at', heading: 'at', value: ({ at }) => iso(at) },
  { json: 'evento', heading: 'event', value: ({ eventName }) => eventName },
  { json: 'deliveryId', heading: 'delivery' },
  { json: 'messageId' },
  { json: 'verdict', heading: 'verdict' },
  { json: 'why', heading: 'why' },
]);

const findOneEvent = command('events find', {
  about: 'say what became of an event, and why',
  notes: examples,
  given: {
    named: optionalArgument('id', 'its webhook-id, or the id of its message', deliveryOrMessageId),
    account: option('<id>', 'the account it was published for', accountId),
    event: option('<name>', 'the name it was published under', publishedName),
    id: option('<id>', "the publisher's own id of it", publishersId),
    since: timed(option('<time>', 'search the log no further back: a time, or how long ago (90m, 2h, 7d)', moment)),
  },
  refuse: given => !referenceOf(given) && nameOne,
  effect: 'reads',
  act: async (task, { since, ...names }) => {
    const reference = referenceOf(names);
    if (!reference) throw new CliError(nameOne);
    return interruptible(task, heard => findPublished(heard, reference, since));
  },
  report: (found, { since }) => {
    const { delivery, logSince } = found;
    const bound = logSince === since ? '(--since)' : '(it is kept no longer)';
    const text = event.lines(
      found,
      logSince === undefined ? [] : [['log searched', `back to ${iso(logSince)} ${bound}`]],
    );
    return { json: event.json(found), text: delivery ? `${text}\n\n${reportDelivery(delivery).text}` : text };
  },
});

const list = command('events list', {
  about: 'list what came for an account, newest first, and what became of it',
  notes: `
Deliveries come from the table. What had no webhook, was refused as an event, or waits for a fault of the service to pass stands
in no table: the logs of the functions that deliver are searched for it, as far back as they are kept. The answer says how far
back it looked.
A refused message is the account's where its id_conta says so.

Examples:
  npm run ops -- events list --account acme
  npm run ops -- --stage prod events list --account acme --since 3d`,
  given: {
    account: required('<id>', 'the account', accountId),
    since: timed(option('<time>', `accepted from then on (default: 24h): ${momentForms}`, moment)),
    limit: option('<n>', 'show at most n events', wholeNumber(1, 10_000), 100),
  },
  effect: 'reads',
  act: listAccountEvents,
  report: ({ account, since, limit, events, isCutOff, logSince, queued }) => {
    const none = `No event came for account ${account} since ${iso(since)}: nothing was published for it, or not to this stage, or it was received a thousand times ("dlq list")${standInQueue(queued, "the account's")}.`;
    const kept = logSince === since ? '' : ' (it is kept no longer)';
    const sentences = [
      `Deliveries are listed back to ${iso(since)}; what had none, by the log, back to ${iso(logSince)}${kept}.`,
      'The log follows within a minute or so.',
      ...(isCutOff ? [`These are the latest ${limit}: --limit shows more.`] : []),
    ];
    return {
      json: {
        ...{ account, since: iso(since), logSince: iso(logSince), isCutOff, queued: queued ?? null },
        events: events.map(listed.json),
      },
      text: `${listed.table(events, none)}\n\n${sentences.join(' ')}`,
    };
  },
});

export const events: Noun = {
  name: 'events',
  about: 'published events: find what became of one, or list what came for an account',
  notes: examples,
  commands: [findOneEvent, list],
};

const nameOne = 'name one event: by its webhook-id or message id, or by --account, --event and --id.';

interface EventNames {
  readonly named?: string;
  readonly account?: string;
  readonly event?: string;
  readonly id?: string;
}

/** Returns the event that argument and options name; `undefined` where they name none, or two. */
function referenceOf({ named, account, event, id }: EventNames): EventReference | undefined {
  const options = [account, event, id].filter(value => value !== undefined);
  if (named !== undefined) {
    if (options.length > 0) return undefined;
    return isDeliveryId(named) ? { deliveryId: named } : { messageId: named };
  }
  if (account === undefined || event === undefined || id === undefined) return undefined;
  return { deliveryId: deliveryIdOf(account, event, id) };
}
