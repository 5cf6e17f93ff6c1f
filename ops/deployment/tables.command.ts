import { type Command, InvalidArgumentError } from 'commander';
import { notEmpty } from '../command-line/option-values.ts';
import type { Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { Comparison } from './restored-table.ts';

/** Adds `tables`. */
export function addTables(program: Command, run: Run): void {
  const tables = program
    .command('tables')
    .description('a table that AWS restored: compare, copy what is missing')
    .addHelpText('after', examples);

  tables
    .command('compare')
    .description("count what a restored table has and the stage's does not; it changes nothing")
    .argument(...ownArgument)
    .argument(...restoredArgument)
    .addHelpText('after', examples)
    .action(run(actions, all => all.compareTables, compared));

  tables
    .command('copy')
    .description("copy what is missing in the stage's table; nothing is overwritten, and it may be repeated")
    .argument(...ownArgument)
    .argument(...restoredArgument)
    .addHelpText('after', examples)
    .action(run(actions, all => all.copyMissing, copied));
}

const examples = `
docs/runbook.md, "Restoring", has the commands of AWS that make the other table.

Examples:
  npm run ops -- --stage prod tables compare users Emissor-prod-users-restored
  npm run ops -- --stage prod tables copy users Emissor-prod-users-restored`;

const names = ['clients', 'users', 'credentials', 'sessions', 'lockouts', 'webhooks', 'deliveries', 'keyring'];

const ownArgument = ['<table>', `of the stage: ${names.join(', ')}`, stageTable] as const;
const restoredArgument = ['<restored>', 'the name of the table that AWS restored', notEmpty] as const;

function stageTable(value: string): string {
  if (names.includes(value)) return value;
  throw new InvalidArgumentError(`It must be one of ${names.join(', ')}.`);
}

function actions() {
  return import('./tables.ts');
}

function compared(comparison: Comparison): Report {
  return { json: comparison, text: `${told(comparison)}.` };
}

function copied(result: Comparison & { readonly copied: number }): Report {
  return { json: result, text: `Copied ${result.copied}. ${told(result)}.` };
}

function told({ restored, same, changed, missing, expired }: Comparison): string {
  return `Of ${restored} restored items ${same} are the same, ${changed} were changed since, ${missing} are missing, and ${expired} are missing and expired`;
}
