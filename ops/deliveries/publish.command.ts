import { type Command, Option } from 'commander';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import type { EventField } from '../../lambdas/delivery/intake/event-field.ts';
import type { EventFormat } from '../../lambdas/delivery/intake/event-format.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { eventName, ordinaryAccountId, wholeNumber } from '../command-line/option-values.ts';
import { lines, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { Published } from './events.ts';

/** Adds `publish`, with an option for each field that an event may have. */
export function addPublish(program: Command, run: Run, events: EventFormat): void {
  const publish = run(actions, all => all.publishEvent, reportPublished);
  const fields = Object.entries(events.fields).map(([name, field]) => ({
    name,
    option: optionFor(events, name, field),
  }));
  const optionOf = new Map([...ownOptions, ...fields.map(({ name, option }) => [name, option.long ?? name] as const)]);
  const publishing = program
    .command('publish')
    .description('publish a business event for real, as the components of the house do')
    .requiredOption('--account <id>', 'the account the event belongs to', ordinaryAccountId)
    .requiredOption('--event <name>', 'the name of the event, such as demanda.criada', eventName);
  for (const { option } of fields) publishing.addOption(option);
  publishing
    .option('--id <id>', 'your own id: events with the same one are delivered once')
    .addHelpText('after', examples(exampleOptions(events, 'proposta.recebida', optionOf)))
    .action((options: PublishOptions, command: Command) => {
      const body = messageOf(options);
      const verdict = judge(body, events);
      if (verdict.outcome === 'rejected') {
        command.error(`error: ${options.event} cannot be published so: ${inOptions(verdict.detail, optionOf)}.`);
      }
      return publish(body, options);
    });

  function messageOf({ account, event, id, ...options }: PublishOptions): string {
    const values = Object.fromEntries(fields.map(({ name, option }) => [name, options[option.attributeName()]]));
    return JSON.stringify(events.message(event, { id_conta: account, id }, values));
  }
}

const actions = () => import('./events.ts');

interface PublishOptions {
  readonly account: string;
  readonly event: EventName;
  readonly id?: string;
  /** The values of the event's fields, by the names of their options. */
  readonly [option: string]: string | number | undefined;
}

/** The options of what every message has, as the detail of a refusal names it. */
const ownOptions = [
  ['id_conta', '--account'],
  ['event', '--event'],
  ['id', '--id'],
] as const;

/** Returns the option of a field. It is required where every event needs the field. */
function optionFor(
  { rows, requiredFields }: EventFormat,
  name: string,
  { kind, option, optional }: EventField,
): Option {
  const isInAll = EVENT_NAMES.every(event => rows[event].fields.includes(name));
  const about = isInAll ? name : `${name}, for the events that have one`;
  const made = new Option(
    `--${option} ${kind === 'integer' ? '<n>' : '<text>'}`,
    optional ? `${about}; may be left out` : about,
  );
  if (kind === 'integer') made.argParser(wholeNumber(1));
  return made.makeOptionMandatory(requiredFields.includes(name));
}

/** Parses the message as the delivery function will. Only the outcome matters, not the message id and the URL of links. */
function judge(body: string, events: EventFormat) {
  return parseEventMessage(body, 'unused', 'https://unused.example.com', events);
}

function inOptions(detail: string, optionOf: ReadonlyMap<string, string>): string {
  return detail.replace(/(?<=^|; )(\w+):/g, (found, field: string) => optionOf.get(field) ?? found);
}

function reportPublished({ messageId, deliveryId }: Published): Report {
  const ids = lines([
    ['message', messageId],
    ['delivery', `${deliveryId} (its webhook-id header)`],
  ]);
  return { json: { messageId, deliveryId }, text: `Published.\n${ids}` };
}

/** Returns the options that give an event the values of documents. */
function exampleOptions(
  { fields, rows }: EventFormat,
  event: EventName,
  optionOf: ReadonlyMap<string, string>,
): string {
  return rows[event].fields.map(name => `${optionOf.get(name)} ${JSON.stringify(fields[name]?.example)}`).join(' ');
}

const examples = (options: string) => `
It sends one message to the events queue, in the group of the account, as an internal service does. If the account has a webhook
for the event, the webhook gets it. It refuses what the service would refuse. With an --id that was used before, nothing is
delivered again. "events find" with the delivery or message it shows says what became of it.

Examples:
  npm run ops -- publish --account acme --event demanda.criada --demand 42
  npm run ops -- publish --account acme --event proposta.recebida ${options} --id order-981`;
