import { command, type Noun } from '../audit/command.ts';
import { argument, required } from '../command-line/arg-spec.ts';
import { filePath, ordinaryAccountId } from '../command-line/forms.ts';
import { untilInterrupted } from '../command-line/until-interrupted.ts';
import { inFlightElsewhere } from '../stage/queues.ts';
import { listedCounts } from '../stage/sentences.ts';
import { deleteAll, exportAll } from './accounts.ts';

const examples = `
The clients of an account are those that can log in only its users. Dead-letter messages of the account are deleted but not
exported. Logs and the audit trail contain ids of accounts, users and clients until their retention ends. Access logs contain
IP addresses. Backups contain the account for 35 more days. After a restore within that time, delete the account again.

Examples:
  npm run ops -- accounts export acme --out acme.ndjson
  npm run ops -- --stage prod accounts delete acme`;

const ofAccount = { account: argument('account', 'the id of the account', ordinaryAccountId) };

const exportAccount = command('accounts export', {
  description: 'export all data of an account to a file, including bodies; the command is audited',
  notes: examples,
  args: {
    ...ofAccount,
    out: required('<file>', 'the file to create or replace, with one JSON object per line', filePath),
  },
  effect: 'discloses',
  act: (task, { account, out }) => exportAll(task, account, out),
  subject: (_task, { account }) => ({ account }),
  report: counts => ({ json: counts, text: `Exported: ${listedCounts(counts)}.` }),
});

export const deleteAccount = command('accounts delete', {
  description: 'permanently delete all data of an account; the command can be repeated',
  notes: examples,
  args: ofAccount,
  effect: 'writes',
  act: (task, { account }) => untilInterrupted(signal => deleteAll(task, account, signal), task.print),
  subject: (_task, { account }) => ({ account }),
  report: ({ inFlight, deadLetters, ...counts }) => {
    const text = `Deleted: ${listedCounts({ ...counts, 'dead-letter messages': deadLetters })}.`;
    const others = `\n\nHowever, ${inFlightElsewhere(inFlight)}. Then run this command again, because some may belong to this account.`;
    return { json: { ...counts, deadLetters, inFlight }, text: inFlight === 0 ? text : text + others };
  },
});

export const accounts: Noun = {
  name: 'accounts',
  description: 'the data of an account: export, delete',
  notes: examples,
  commands: [exportAccount, deleteAccount],
};
