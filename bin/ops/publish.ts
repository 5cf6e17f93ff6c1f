import type { Command } from 'commander';
import { deliveryIdOf, parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { eventName, ordinaryAccountId, wholeNumber } from './option-values.ts';
import { fields, type Report } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';

/** Adds `publish`. */
export function addPublish(program: Command, run: Run): void {
  program
    .command('publish')
    .description('publish a business event for real, as the components of the house do')
    .requiredOption('--account <id>', 'the account the event belongs to', ordinaryAccountId)
    .requiredOption('--event <name>', 'the name of the event, such as demanda.criada', eventName)
    .requiredOption('--demand <n>', 'id_demanda', wholeNumber(1))
    .option('--proposal <n>', 'id_proposta, for the events that have one', wholeNumber(1))
    .option('--id <id>', 'your own id: events with the same one are delivered once')
    .addHelpText('after', examples)
    .action(async (options: PublishOptions, command: Command) => {
      const body = messageOf(options);
      const verdict = judge(body);
      if (verdict.outcome === 'rejected') {
        command.error(`error: ${options.event} cannot be published so: ${inOptions(verdict.detail)}.`);
      }
      await run(command, target => publish(target, body, options), reportPublished);
    });
}

const examples = `
It sends one message to the events queue, in the group of the account, as an internal service does. If the account has a webhook
for the event, the webhook gets it. It refuses what the service would refuse. With an --id that was used before, nothing is
delivered again. "events find" with the delivery or message it shows says what became of it.

Examples:
  npm run ops -- publish --account acme --event demanda.criada --demand 42
  npm run ops -- publish --account acme --event proposta.recebida --demand 42 --proposal 7 --id order-981`;

interface PublishOptions {
  readonly account: string;
  readonly event: EventName;
  readonly demand: number;
  readonly proposal?: number;
  readonly id?: string;
}

function messageOf(options: PublishOptions): string {
  return JSON.stringify({
    id_conta: options.account,
    event: options.event,
    id_demanda: options.demand,
    ...(options.proposal === undefined ? {} : { id_proposta: options.proposal }),
    ...(options.id === undefined ? {} : { id: options.id }),
  });
}

/** Parses the message as the delivery function will. Only the outcome matters, not the message id and the URL of links. */
function judge(body: string) {
  return parseEventMessage(body, 'unused', 'https://unused.example.com');
}

function inOptions(detail: string): string {
  return detail.replace(/(?<=^|; )(\w+):/g, (found, field: string) => optionOf[field] ?? found);
}

/** The ids of an event that was published. */
interface Published {
  readonly messageId: string;
  readonly deliveryId: string;
}

async function publish(target: Target, body: string, options: PublishOptions): Promise<Published> {
  const { openQueues } = await import('./queues.ts');
  const messageId = await openQueues(target).send('EventsQueueUrl', body, options.account);
  const deliveryId = deliveryIdOf(options.account, options.event, options.id ?? messageId);
  return { messageId, deliveryId };
}

function reportPublished({ messageId, deliveryId }: Published): Report {
  const lines = fields([
    ['message', messageId],
    ['delivery', `${deliveryId} (its webhook-id header)`],
  ]);
  return { json: { messageId, deliveryId }, text: `Published.\n${lines}` };
}

/** The option that gives each field of the message. */
const optionOf: Readonly<Record<string, string>> = {
  id_conta: '--account',
  event: '--event',
  id_demanda: '--demand',
  id_proposta: '--proposal',
  id: '--id',
};
