import { type Command, Option } from 'commander';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import {
  type EventValues,
  eventCatalogue,
  eventFields,
  eventMessage,
  type FieldName,
} from '../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import type { Published } from '../actions/events.ts';
import { eventName, ordinaryAccountId, wholeNumber } from './option-values.ts';
import { lines, type Report } from './report.ts';
import type { Run } from './run.ts';

/** Adds `publish`. */
export function addPublish(program: Command, run: Run): void {
  const publish = run(actions, all => all.publishEvent, reportPublished);
  const publishing = program
    .command('publish')
    .description('publish a business event for real, as the components of the house do')
    .requiredOption('--account <id>', 'the account the event belongs to', ordinaryAccountId)
    .requiredOption('--event <name>', 'the name of the event, such as demanda.criada', eventName);
  for (const name of fieldNames) publishing.addOption(optionFor(name));
  publishing
    .option('--id <id>', 'your own id: events with the same one are delivered once')
    .addHelpText('after', examples)
    .action((options: PublishOptions, command: Command) => {
      const body = messageOf(options);
      const verdict = judge(body);
      if (verdict.outcome === 'rejected') {
        command.error(`error: ${options.event} cannot be published so: ${inOptions(verdict.detail)}.`);
      }
      return publish(body, options);
    });
}

const actions = () => import('../actions/events.ts');

interface PublishOptions {
  readonly account: string;
  readonly event: EventName;
  readonly id?: string;
  /** The values of the event's fields, by the names of their options. */
  readonly [option: string]: string | number | undefined;
}

const fieldNames = Object.keys(eventFields) as FieldName[];

/** Returns the option of a field. It is required where every event has the field. */
function optionFor(name: FieldName): Option {
  const { option, example } = eventFields[name];
  const isInAll = EVENT_NAMES.every(event => eventCatalogue[event].fields.includes(name));
  const about = isInAll ? name : `${name}, for the events that have one`;
  const made = new Option(`--${option} ${typeof example === 'number' ? '<n>' : '<text>'}`, about);
  if (typeof example === 'number') made.argParser(wholeNumber(1));
  return made.makeOptionMandatory(isInAll);
}

function messageOf({ account, event, id, ...options }: PublishOptions): string {
  const values = Object.fromEntries(fieldNames.map(name => [name, options[eventFields[name].option]])) as EventValues;
  return JSON.stringify(eventMessage(event, { id_conta: account, id }, values));
}

/** Parses the message as the delivery function will. Only the outcome matters, not the message id and the URL of links. */
function judge(body: string) {
  return parseEventMessage(body, 'unused', 'https://unused.example.com');
}

function inOptions(detail: string): string {
  return detail.replace(/(?<=^|; )(\w+):/g, (found, field: string) => optionOf[field] ?? found);
}

function reportPublished({ messageId, deliveryId }: Published): Report {
  const ids = lines([
    ['message', messageId],
    ['delivery', `${deliveryId} (its webhook-id header)`],
  ]);
  return { json: { messageId, deliveryId }, text: `Published.\n${ids}` };
}

/** The option that sets each field of the message. */
const optionOf: Readonly<Record<string, string>> = {
  id_conta: '--account',
  event: '--event',
  ...Object.fromEntries(fieldNames.map(name => [name, `--${eventFields[name].option}`])),
  id: '--id',
};

/** Returns the options that give an event the values of documents. */
function exampleOptions(event: EventName): string {
  return eventCatalogue[event].fields.map(name => `${optionOf[name]} ${eventFields[name].example}`).join(' ');
}

const examples = `
It sends one message to the events queue, in the group of the account, as an internal service does. If the account has a webhook
for the event, the webhook gets it. It refuses what the service would refuse. With an --id that was used before, nothing is
delivered again. "events find" with the delivery or message it shows says what became of it.

Examples:
  npm run ops -- publish --account acme --event demanda.criada --demand 42
  npm run ops -- publish --account acme --event proposta.recebida ${exampleOptions('proposta.recebida')} --id order-981`;
