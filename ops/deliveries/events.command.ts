import { isDeliveryId } from '../../lambdas/delivery/delivery.ts';
import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { command, type Noun } from '../audit/command.ts';
import { option, optionalArgument, required, timed } from '../command-line/arg-spec.ts';
import {
  accountId,
  deliveryOrMessageId,
  publishedName,
  publishersId,
  time,
  timeForms,
  wholeNumber,
} from '../command-line/forms.ts';
import { inOneLine, iso, isoSeconds, makeFormatter } from '../command-line/report.ts';
import { interruptible } from '../command-line/until-interrupted.ts';
import { CliError } from '../stage/operator.ts';
import { queuedHint } from '../stage/queues.ts';
import { type AccountEvent, listAccountEvents } from './account-events.ts';
import { delivery as deliveryFormatter, reportDelivery } from './deliveries.command.ts';
import { type EventReference, type FoundEvent, findPublished } from './events.ts';

const examples = `
Specify an event by the webhook-id of its delivery, by the id of its message, or by account, event and the publisher's id. The
verdict is one of: delivered, pending, failed, held, cancelled, no webhook, rejected, unknown. Events without a webhook and
rejected events are not stored in a table. For them, the command searches the dead-letter queue and the retained logs of the
delivery functions (logRetentionDays), and reports how far back it searched. --since shortens the search and reduces its cost
in CloudWatch.

Examples:
  npm run ops -- events find evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H
  npm run ops -- events find 87d3a375-8574-4978-998f-80aa10f241f1
  npm run ops -- --stage prod events find --account acme --event demanda.criada --id order-981`;

const event = makeFormatter<FoundEvent>([
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
  { json: 'delivery', value: ({ delivery }) => delivery && deliveryFormatter.json(delivery) },
  { json: 'logSince', value: ({ logSince }) => iso(logSince) },
]);

const listedEvent = makeFormatter<AccountEvent>([
  { json: 'at', heading: 'at', value: ({ at }) => iso(at), text: ({ at }) => isoSeconds(isoTime(at)) },
  { json: 'evento', heading: 'event', value: ({ eventName }) => eventName, width: 20 },
  { json: 'deliveryId', heading: 'delivery' },
  { json: 'messageId' },
  { json: 'verdict', heading: 'verdict' },
  { json: 'why' },
]);

const findOneEvent = command('events find', {
  description: 'show what happened to an event, and why',
  notes: examples,
  args: {
    reference: optionalArgument('id', 'the webhook-id of its delivery, or the id of its message', deliveryOrMessageId),
    account: option('<id>', 'the account of the event', accountId),
    event: option('<name>', 'the name of the published event', publishedName),
    id: option('<id>', "the publisher's id for the event", publishersId),
    since: timed(option('<time>', `search the log since ${timeForms}`, time)),
  },
  validate: args => !referenceOf(args) && specifyOne,
  effect: 'reads',
  act: async (task, { since, ...names }) => {
    const reference = referenceOf(names);
    if (!reference) throw new CliError(specifyOne);
    return interruptible(task, interruptibleTask => findPublished(interruptibleTask, reference, since));
  },
  report: (found, { since }) => {
    const { delivery, logSince } = found;
    const bound = logSince === since ? '(--since)' : '(older logs are deleted)';
    const text = event.lines(
      found,
      logSince === undefined ? [] : [['log searched', `since ${iso(logSince)} ${bound}`]],
    );
    return { json: event.json(found), text: delivery ? `${text}\n\n${reportDelivery(delivery).text}` : text };
  },
});

const list = command('events list', {
  description: 'list the events of an account, newest first, with the outcome of each',
  notes: `
Deliveries are read from the table. Events that had no webhook, were rejected, or are waiting after an internal error are not
stored in a table. For them, the command searches the retained logs of the delivery functions, and reports how far back it
searched. A rejected message belongs to the account in its id_conta.

Examples:
  npm run ops -- events list --account acme
  npm run ops -- --stage prod events list --account acme --since 3d`,
  args: {
    account: required('<id>', 'the account', accountId),
    since: timed(option('<time>', `only events accepted since ${timeForms} (default: 24h)`, time)),
    limit: option('<n>', 'show at most n events', wholeNumber(1, 10_000), 100),
  },
  effect: 'reads',
  act: listAccountEvents,
  report: ({ account, since, limit, events, isCutOff, logSince, queued }) => {
    const none = `No events for account ${account} since ${iso(since)}. No event was published to this stage, or its messages were received 1,000 times ("dlq list")${queuedHint(queued, "the account's")}.`;
    const bound = logSince === since ? '' : ' (older logs are deleted)';
    const sentences = [
      `Deliveries are listed since ${iso(since)}. Events without a delivery are from the log, since ${iso(logSince)}${bound}.`,
      'The log is delayed by about a minute.',
      ...(isCutOff ? [`Only the latest ${limit} are shown. Use a larger --limit to see more.`] : []),
    ];
    return {
      json: {
        ...{ account, since: iso(since), logSince: iso(logSince), isCutOff, queued: queued ?? null },
        events: events.map(listedEvent.json),
      },
      text: `${tableWithReasons(events, none)}\n\n${sentences.join(' ')}`,
    };
  },
});

export const events: Noun = {
  name: 'events',
  description: 'published events: find, list',
  notes: examples,
  commands: [findOneEvent, list],
};

/** Formats the events in at most 120 columns, with the reason for each verdict below its row. */
function tableWithReasons(events: readonly AccountEvent[], whenEmpty: string): string {
  const [heading = '', ...rows] = listedEvent.table(events, whenEmpty).split('\n');
  const reasons = events.map(({ why }) => inOneLine(why).replace(/(.{1,116})(?: +|$)/g, '\n    $1'));
  return [heading, ...rows.map((row, at) => row + (reasons[at] ?? ''))].join('\n');
}

const specifyOne = 'Specify one event: its webhook-id, its message id, or --account, --event and --id.';

interface EventNames {
  readonly reference?: string;
  readonly account?: string;
  readonly event?: string;
  readonly id?: string;
}

/** Returns the event that the argument or the options specify, or `undefined` if they do not specify exactly one. */
function referenceOf({ reference, account, event, id }: EventNames): EventReference | undefined {
  const options = [account, event, id].filter(value => value !== undefined);
  if (reference !== undefined) {
    if (options.length > 0) return undefined;
    return isDeliveryId(reference) ? { deliveryId: reference } : { messageId: reference };
  }
  if (account === undefined || event === undefined || id === undefined) return undefined;
  return { deliveryId: deliveryIdOf(account, event, id) };
}
