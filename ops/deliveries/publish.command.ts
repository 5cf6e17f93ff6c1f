import * as z from 'zod';
import { deliveryIdOf, parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import type { EventField } from '../../lambdas/delivery/intake/event-field.ts';
import type { EventFormat } from '../../lambdas/delivery/intake/event-format.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { command, type Noun } from '../audit/command.ts';
import { type ArgSpec, option, type ParsedArgs, required } from '../command-line/arg-spec.ts';
import { eventName, ordinaryAccountId, wholeNumber } from '../command-line/forms.ts';
import { lines } from '../command-line/report.ts';
import { openQueues } from '../stage/queues.ts';

/** Creates the command that publishes events. The command has an option for each field of an event. */
export function makePublish(events: EventFormat) {
  const { fields, requiredFields, rows } = events;
  const optionOf = new Map([
    ...ownOptions,
    ...Object.entries(fields).map(([name, { option }]) => [name, `--${option}`] as const),
  ]);
  const specs = {
    account: required('<id>', 'the account that the event belongs to', ordinaryAccountId),
    event: required('<name>', 'the name of the event, such as demanda.criada', eventName),
    ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [valueName(field), specOf(name, field)])),
    id: option('<id>', 'your id for the event; events with the same id are delivered once', z.string()),
  };

  return command('publish', {
    description: 'publish a business event, as an internal service does',
    notes: examples(exampleOptions('proposta.recebida')),
    args: specs,
    validate: args => {
      // The message id and the URLs in links do not affect the outcome.
      const verdict = parseEventMessage(messageOf(args), 'unused', 'https://unused.example.com', events);
      return verdict.outcome === 'rejected' && `${args.event} cannot be published: ${inOptions(verdict.detail)}.`;
    },
    effect: 'writes',
    act: async ({ target, recordResult }, args) => {
      const { account, event, id } = args;
      const messageId = await openQueues(target).send('EventsQueueUrl', messageOf(args), account);
      const deliveryId = deliveryIdOf(account, event, id ?? messageId);
      recordResult({ delivery: deliveryId, messages: [messageId] });
      return { messageId, deliveryId };
    },
    subject: (_task, { account, event }) => ({ account, event }),
    report: published => {
      const ids = lines([
        ['message', published.messageId],
        ['delivery', `${published.deliveryId} (its webhook-id header)`],
      ]);
      return { json: published, text: `Published.\n${ids}` };
    },
  });

  /** Creates the option for a field. The option is required if every event requires the field. */
  function specOf(name: string, { kind, optional }: EventField): ArgSpec<string | number | undefined> {
    const isInAll = EVENT_NAMES.every(event => rows[event].fields.includes(name));
    const label = isInAll ? name : `${name}, for the events that have one`;
    const description = optional ? `${label}; may be omitted` : label;
    const make = requiredFields.includes(name) ? required : option;
    return kind === 'integer' ? make('<n>', description, wholeNumber(1)) : make('<text>', description, z.string());
  }

  function messageOf({ account, event, id, ...others }: ParsedArgs<typeof specs>): string {
    const options: Readonly<Record<string, string | number | undefined>> = others;
    const values = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, options[valueName(field)]]));
    return JSON.stringify(events.message(event, { id_conta: account, id }, values));
  }

  /** Replaces field names with option names. */
  function inOptions(detail: string): string {
    return detail.replace(/(?<=^|; )(\w+):/g, (found, field: string) => optionOf.get(field) ?? found);
  }

  /** Returns options that set the fields of an event to the examples in the documents. */
  function exampleOptions(event: EventName): string {
    return rows[event].fields.map(name => `${optionOf.get(name)} ${JSON.stringify(fields[name]?.example)}`).join(' ');
  }
}

/** The options for the fields of every message, by field name. */
const ownOptions = [
  ['id_conta', '--account'],
  ['event', '--event'],
  ['id', '--id'],
] as const;

/** Returns the value name of a field's option, such as `salesChannel` for `sales-channel`. */
function valueName({ option }: EventField): string {
  return option.replace(/-./g, ([, initial = '']) => initial.toUpperCase());
}

const examples = (options: string) => `
The command sends a real message to the events queue, in the account's message group. If the account has a webhook for the event,
the service delivers the event. The command rejects events that the service would reject. An event with an --id that was used
before is not delivered again. "events find" with the delivery or message id shows what happened to the event.

Examples:
  npm run ops -- publish --account acme --event demanda.criada --demand 42
  npm run ops -- publish --account acme --event proposta.recebida ${options} --id order-981`;

const publishEvent = makePublish(businessEvents);

export const publish: Noun = { name: 'publish', commands: [publishEvent] };
