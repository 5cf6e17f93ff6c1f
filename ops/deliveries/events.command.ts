import type { Command } from 'commander';
import { isDeliveryId } from '../../lambdas/delivery/delivery.ts';
import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import {
  accountId,
  deliveryOrMessageId,
  momentBefore,
  momentForms,
  publishedName,
  publishersId,
  wholeNumber,
} from '../command-line/option-values.ts';
import { iso, makeShape, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { AccountEvent, AccountEvents } from './account-events.ts';
import { delivery as deliveryShape, reportDelivery } from './deliveries.command.ts';
import type { EventReference, FoundEvent } from './events.ts';

/** Adds `events`. */
export function addEvents(program: Command, run: Run): void {
  const events = program
    .command('events')
    .description('published events: find what became of one, or list what came for an account')
    .addHelpText('after', examples);

  const find = run(actions, all => all.findPublished, reportFound);
  events
    .command('find')
    .description('say what became of an event, and why')
    .argument('[id]', 'its webhook-id, or the id of its message', deliveryOrMessageId)
    .option('--account <id>', 'the account it was published for', accountId)
    .option('--event <name>', 'the name it was published under', publishedName)
    .option('--id <id>', "the publisher's own id of it", publishersId)
    .option('--since <time>', 'search the log no further back: a time, or how long ago (90m, 2h, 7d)', momentBefore())
    .addHelpText('after', examples)
    .action((id: string | undefined, options: FindOptions, command: Command) => {
      const reference = referenceOf(id, options);
      if (!reference) {
        command.error('error: name one event: by its webhook-id or message id, or by --account, --event and --id.');
      }
      return find(reference, options);
    });

  events
    .command('list')
    .description('list what came for an account, newest first, and what became of it')
    .requiredOption('--account <id>', 'the account', accountId)
    .option('--since <time>', `accepted from then on (default: 24h): ${momentForms}`, momentBefore())
    .option('--limit <n>', 'show at most n events', wholeNumber(1, 10_000), 100)
    .addHelpText('after', listNotes)
    .action(run(accountActions, all => all.listEvents, reportEvents));
}

const accountActions = () => import('./account-events.ts');

const actions = () => import('./events.ts');

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

const listNotes = `
Deliveries come from the table. What had no webhook, was refused as an event, or waits for a fault of the service to pass stands
in no table: the logs of the functions that deliver are searched for it, as far back as they are kept. The answer says how far
back it looked.
A refused message is the account's where its id_conta says so.

Examples:
  npm run ops -- events list --account acme
  npm run ops -- --stage prod events list --account acme --since 3d`;

interface FindOptions {
  readonly account?: string;
  readonly event?: string;
  readonly id?: string;
  readonly since?: number;
}

/** Returns the event that argument and options name; `undefined` where they name none, or two. */
function referenceOf(given: string | undefined, { account, event, id }: FindOptions): EventReference | undefined {
  const options = [account, event, id].filter(value => value !== undefined);
  if (given !== undefined) {
    if (options.length > 0) return undefined;
    return isDeliveryId(given) ? { deliveryId: given } : { messageId: given };
  }
  if (account === undefined || event === undefined || id === undefined) return undefined;
  return { deliveryId: deliveryIdOf(account, event, id) };
}

const event = makeShape<FoundEvent>([
  { json: 'verdict', heading: 'verdict', value: ({ verdict }) => verdict },
  { json: 'why', heading: 'why', value: ({ why }) => why },
  {
    json: 'deliveryId',
    heading: 'delivery',
    value: ({ deliveryId }) => deliveryId,
    text: ({ delivery, deliveryId }) => (delivery ? undefined : (deliveryId ?? '-')),
  },
  {
    json: 'messageId',
    heading: 'message',
    value: ({ messageId }) => messageId,
    text: ({ delivery, messageId }) => (delivery ? undefined : (messageId ?? '-')),
  },
  { json: 'delivery', value: ({ delivery }) => delivery && deliveryShape.json(delivery) },
  { json: 'logSince', value: ({ logSince }) => iso(logSince) },
]);

function reportFound({ found, since }: { readonly found: FoundEvent; readonly since: number | undefined }): Report {
  const { delivery, logSince } = found;
  const bound = logSince === since ? '(--since)' : '(it is kept no longer)';
  const text = event.lines(
    found,
    logSince === undefined ? [] : [['log searched', `back to ${iso(logSince)} ${bound}`]],
  );
  return { json: event.json(found), text: delivery ? `${text}\n\n${reportDelivery(delivery).text}` : text };
}

const listed = makeShape<AccountEvent>([
  { json: 'at', heading: 'at', value: ({ at }) => iso(at) },
  { json: 'evento', heading: 'event', value: ({ eventName }) => eventName },
  { json: 'deliveryId', heading: 'delivery', value: ({ deliveryId }) => deliveryId },
  { json: 'messageId', value: ({ messageId }) => messageId },
  { json: 'verdict', heading: 'verdict', value: ({ verdict }) => verdict },
  { json: 'why', heading: 'why', value: ({ why }) => why },
]);

function reportEvents({ account, since, limit, events, isCutOff, logSince }: AccountEvents): Report {
  const json = { account, since: iso(since), logSince: iso(logSince), isCutOff, events: events.map(listed.json) };
  const none = `No event came for account ${account} since ${iso(since)}: nothing was published for it, or not to this stage, or it crashed a consumer a hundred times ("dlq list").`;
  const kept = logSince === since ? '' : ' (it is kept no longer)';
  const sentences = [
    `Deliveries are listed back to ${iso(since)}; what had none, by the log, back to ${iso(logSince)}${kept}.`,
    'The log follows within a minute or so.',
    ...(isCutOff ? [`These are the latest ${limit}: --limit shows more.`] : []),
  ];
  return { json, text: `${listed.table(events, none)}\n\n${sentences.join(' ')}` };
}
