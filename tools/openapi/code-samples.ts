import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Operation } from './description.ts';

/** Returns the command for an operation from the quick start. Tests run the commands on that page. */
export function codeSamples({ method, path: pattern }: Operation): readonly object[] {
  const route = pattern.replace('{evento}', 'proposta.recebida');
  const command = commands.find(one => methodOf(one) === method && pathOf(one) === route);
  return command === undefined ? [] : [{ lang: 'Shell', label: 'curl', source: command }];
}

const page = readFileSync(path.join(import.meta.dirname, '../../docs/en/quick-start.md'), 'utf8');

/** The `curl` commands on the page, without assignments to variables. */
const commands = [...page.matchAll(/^(?:ANSWER=\$\()?(curl (?:.*\\\n)*.*)$/gm)].map(([line, command = '']) =>
  line.startsWith('ANSWER=') ? command.replace(/\)$/, '') : command,
);

function methodOf(command: string): string {
  return /-X POST|\s-d\s/.test(command) ? 'POST' : 'GET';
}

function pathOf(command: string): string | undefined {
  return /"\$(?:AUTH|BASE)_URL([^"?]*)/.exec(command)?.[1];
}
