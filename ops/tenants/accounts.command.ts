import { command, type Noun } from '../audit/command.ts';
import { filePath, ordinaryAccountId } from '../command-line/forms.ts';
import { untilInterrupted } from '../command-line/until-interrupted.ts';
import { argument, required } from '../command-line/words.ts';
import { lookedAt } from '../stage/queues.ts';
import { deleteAll, exportAll } from './accounts.ts';

const examples = `
An account's clients are those that log in its users only. Dead letters that name the account are deleted, too, and not
exported. Logs and the audit trail name accounts, users and clients by their ids, access logs IP addresses, and end with
their retention. Backups hold the account for 35 days more. After a restore within that time, delete the account again.

Examples:
  npm run ops -- accounts export acme --out acme.ndjson
  npm run ops -- --stage prod accounts delete acme`;

const ofAccount = { account: argument('account', 'the id of the account', ordinaryAccountId) };

const exportAccount = command('accounts export', {
  about: 'write all that is kept of an account into a file; it shows bodies, and is audited',
  notes: examples,
  given: {
    ...ofAccount,
    out: required('<file>', 'the file to write: a JSON object on each line; an earlier one is replaced', filePath),
  },
  effect: 'looks',
  act: (task, { account, out }) => exportAll(task, account, out),
  subject: (_task, { account }) => ({ account }),
  report: counts => ({ json: counts, text: `Exported: ${told(counts)}.` }),
});

export const deleteAccount = command('accounts delete', {
  about: 'delete all that is kept of an account, for good; it may be repeated',
  notes: examples,
  given: ofAccount,
  effect: 'writes',
  act: (task, { account }) => untilInterrupted(signal => deleteAll(task, account, signal), task.tell),
  subject: (_task, { account }) => ({ account }),
  report: ({ inFlight, deadLetters, ...counts }) => {
    const text = `Deleted: ${told(counts)}, ${deadLetters} dead letters.`;
    const others = `\n\nBut ${lookedAt(inFlight)}: repeat this command then, some may be of this account.`;
    return { json: { ...counts, deadLetters, inFlight }, text: inFlight === 0 ? text : text + others };
  },
});

export const accounts: Noun = {
  name: 'accounts',
  about: 'all that is kept of an account: export, delete',
  notes: examples,
  commands: [exportAccount, deleteAccount],
};

function told(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, count]) => `${count} ${what.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)}`)
    .join(', ');
}
