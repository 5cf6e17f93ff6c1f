import type { Command } from 'commander';
import { notEmpty, ordinaryAccountId } from '../command-line/option-values.ts';
import type { Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import { lookedAt } from '../stage/looked-at.ts';
import type { DeletedAccount, DeletedCounts, ExportedCounts } from './accounts.ts';

/** Adds `accounts`. */
export function addAccounts(program: Command, run: Run): void {
  const accounts = program
    .command('accounts')
    .description('all that is kept of an account: export, delete')
    .addHelpText('after', examples);

  const exportAll = run(actions, all => all.exportAccount, exported);
  accounts
    .command('export')
    .description('write all that is kept of an account into a file; it shows bodies, and is audited')
    .argument(...accountArgument)
    .requiredOption(
      '--out <file>',
      'the file to write: a JSON object on each line; an earlier one is replaced',
      notEmpty,
    )
    .addHelpText('after', examples)
    .action((account: string, { out }: { readonly out: string }) => exportAll(account, out));

  accounts
    .command('delete')
    .description('delete all that is kept of an account, for good; it may be repeated')
    .argument(...accountArgument)
    .addHelpText('after', examples)
    .action(run(actions, all => all.deleteAccount, deleted));
}

const examples = `
An account's clients are those that log in its users only. Dead letters that name the account are deleted,
too, and not exported. Logs and the audit trail name accounts, users and clients by their ids, and end with their retention.

Examples:
  npm run ops -- accounts export acme --out acme.ndjson
  npm run ops -- --stage prod accounts delete acme`;

const accountArgument = ['<account>', 'the id of the account', ordinaryAccountId] as const;

function actions() {
  return import('./accounts.ts');
}

function exported(counts: ExportedCounts): Report {
  return { json: counts, text: `Exported: ${told(counts)}.` };
}

function deleted({ inFlight, deadLetters, ...counts }: DeletedAccount): Report {
  const text = `Deleted: ${told(counts)}, ${deadLetters} dead letters.`;
  const others = `\n\nBut ${lookedAt(inFlight)}: repeat this command then, some may be of this account.`;
  return { json: { ...counts, deadLetters, inHand: inFlight }, text: inFlight === 0 ? text : text + others };
}

function told(counts: ExportedCounts | DeletedCounts): string {
  return Object.entries(counts)
    .map(([what, count]) => `${count} ${what.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)}`)
    .join(', ');
}
