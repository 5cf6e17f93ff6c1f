import { isDeliveryId } from '../../lambdas/delivery/delivery.ts';
import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { command, type Noun } from '../audit/command.ts';
import { option, optionalArgument, required, timed } from '../command-line/arg-spec.ts';
import {
  accountId,
  deliveryOrMessageId,
  moment,
  momentForms,
  publishedName,
  publishersId,
  wholeNumber,
} from '../command-line/forms.ts';
import { inOneLine, iso, isoSeconds, makeShape } from '../command-line/report.ts';
import { interruptible } from '../command-line/until-interrupted.ts';
import { CliError } from '../stage/operator.ts';
import { queuedHint } from '../stage/queues.ts';
import { type AccountEvent, listAccountEvents } from './account-events.ts';
import { delivery as deliveryShape, reportDelivery } from './deliveries.command.ts';
import { type EventReference, type FoundEvent, findPublished } from './events.ts';

const examples = `
Name an event by the webhook-id of its delivery, by the id of its message, or by account, event and the publisher's id. The
verdict is one of: delivered, pending, failed, held, cancelled, no webhook, rejected, unknown. No table has the events that
had no webhook or were rejected. For those, the command searches the logs of the delivery functions, as far back as the stage
keeps them (logRetentionDays), and the dead-letter queue. It reports how far back it searched. --since shortens the search
and reduces what CloudWatch charges for it.

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
  given: {
    named: optionalArgument('id', 'its webhook-id, or the id of its message', deliveryOrMessageId),
    account: option('<id>', 'the account it was published for', accountId),
    event: option('<name>', 'the name it was published under', publishedName),
    id: option('<id>', "the publisher's id of the event", publishersId),
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
    const bound = logSince === since ? '(--since)' : '(older logs are deleted)';
    const text = event.lines(
      found,
      logSince === undefined ? [] : [['log searched', `since ${iso(logSince)} ${bound}`]],
    );
    return { json: event.json(found), text: delivery ? `${text}\n\n${reportDelivery(delivery).text}` : text };
  },
});

const list = command('events list', {
  description: 'list the events of an account, newest first, and what happened to each',
  notes: `
Deliveries come from the table. No table has the events that had no webhook, were rejected, or wait because of a fault of the
service. The command searches the logs of the delivery functions for those, as far back as they are kept, and reports how far
back it searched. A rejected message belongs to the account in its id_conta.

Examples:
  npm run ops -- events list --account acme
  npm run ops -- --stage prod events list --account acme --since 3d`,
  given: {
    account: required('<id>', 'the account', accountId),
    since: timed(option('<time>', `accepted since then (default: 24h): ${momentForms}`, moment)),
    limit: option('<n>', 'show at most n events', wholeNumber(1, 10_000), 100),
  },
  effect: 'reads',
  act: listAccountEvents,
  report: ({ account, since, limit, events, isCutOff, logSince, queued }) => {
    const none = `No events for account ${account} since ${iso(since)}: none was published to this stage, or its messages were received 1,000 times ("dlq list")${queuedHint(queued, "the account's")}.`;
    const kept = logSince === since ? '' : ' (older logs are deleted)';
    const sentences = [
      `Deliveries are listed since ${iso(since)}; events without a delivery are from the log, since ${iso(logSince)}${kept}.`,
      'The log is about a minute behind.',
      ...(isCutOff ? [`Only the latest ${limit} are shown. A larger --limit shows more.`] : []),
    ];
    return {
      json: {
        ...{ account, since: iso(since), logSince: iso(logSince), isCutOff, queued: queued ?? null },
        events: events.map(listed.json),
      },
      text: `${tableWithReasons(events, none)}\n\n${sentences.join(' ')}`,
    };
  },
});

export const events: Noun = {
  name: 'events',
  description: 'published events: find one, or list those of an account',
  notes: examples,
  commands: [findOneEvent, list],
};

/** Formats the reason of each event below its row, in at most 120 columns. */
function tableWithReasons(events: readonly AccountEvent[], whenEmpty: string): string {
  const [heading = '', ...rows] = listed.table(events, whenEmpty).split('\n');
  const reasons = events.map(({ why }) => inOneLine(why).replace(/(.{1,116})(?: +|$)/g, '\n    $1'));
  return [heading, ...rows.map((row, at) => row + (reasons[at] ?? ''))].join('\n');
}

const nameOne = 'Name one event: by its webhook-id or message id, or by --account, --event and --id.';

interface EventNames {
  readonly named?: string;
  readonly account?: string;
  readonly event?: string;
  readonly id?: string;
}

/** Returns the event that the argument or the options name, or `undefined` if they do not name exactly one. */
function referenceOf({ named, account, event, id }: EventNames): EventReference | undefined {
  const options = [account, event, id].filter(value => value !== undefined);
  if (named !== undefined) {
    if (options.length > 0) return undefined;
    return isDeliveryId(named) ? { deliveryId: named } : { messageId: named };
  }
  if (account === undefined || event === undefined || id === undefined) return undefined;
  return { deliveryId: deliveryIdOf(account, event, id) };
}
