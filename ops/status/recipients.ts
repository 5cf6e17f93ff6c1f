import { listEmailSubscriptions } from '../stage/mailboxes.ts';
import { isUnread, type Part } from '../stage/operator.ts';
import { listed } from '../stage/sentences.ts';
import { requireOutput, type Target } from '../stage/target.ts';

/** An address that receives e-mails about one kind of alarm once it is confirmed. Each kind of alarm has its own topic. */
export interface Recipient {
  readonly mail: 'page' | 'ticket';
  readonly address: string;
  readonly state: 'confirmed' | 'not confirmed' | 'not subscribed';
}

/** Reads whether the recipients in the stage's file have confirmed. A local run has no recipients. */
export async function readRecipients(target: Target): Promise<readonly Recipient[]> {
  const addresses = target.deployed?.configuration.alarmRecipients ?? [];
  if (addresses.length === 0) return [];
  const read = async (mail: Recipient['mail'], output: string) => {
    const mailboxes = await listEmailSubscriptions(target.connect, requireOutput(target, output));
    return addresses.map(address => ({ mail, address, state: mailboxes.get(address) ?? ('not subscribed' as const) }));
  };
  return (await Promise.all([read('page', 'PagesTopicArn'), read('ticket', 'TicketsTopicArn')])).flat();
}

/** Finds recipients who do not receive alarm e-mails, because no one would otherwise notice. */
export function recipientProblems(recipients: Part<readonly Recipient[]>): readonly string[] {
  if (isUnread(recipients)) return [];
  const unreached = recipients.filter(({ state }) => state !== 'confirmed');
  return [...Map.groupBy(unreached, ({ mail }) => mail)].map(([mail, of]) => {
    const who = listed(of.map(({ address, state }) => `${address} (${state})`));
    return `${mail}s do not reach ${who}. See docs/runbook.md, "A recipient who never confirmed".`;
  });
}
