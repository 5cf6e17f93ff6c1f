import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { reads } from '../audit/audit.ts';
import { wholeNumber } from '../command-line/option-values.ts';
import type { Run } from '../command-line/run.ts';
import type { Streams } from '../command-line/terminal.ts';
import type { Task } from '../stage/target.ts';

/** Adds `console`. */
export function addConsole(program: Command, run: Run, streams: Streams): void {
  const load = async () => ({
    actions: { serve: reads((task: Task, options: Options) => serve(task, options, streams)) },
  });
  program
    .command('console')
    .description('pages that show what happens and mend it, on 127.0.0.1, with your own credentials')
    .option('--port <number>', 'where it listens; 0 takes any free port', wholeNumber(0, 65_535), 0)
    .addHelpText('after', examples)
    .action(
      run(
        load,
        all => all.serve,
        url => ({ json: { url }, text: 'The console has ended.' }),
      ),
    );
}

interface Options {
  readonly port: number;
}

const examples = `
It prints a link that opens the console once; Enter prints another one. It ends with Ctrl-C, and with it every session. What a
page changes leaves an audit line, as a command does.

Examples:
  npm run ops -- console
  npm run ops -- --stage prod console`;

/** Serves the pages until it is interrupted. Returns their address, without a token. */
async function serve({ target }: Task, { port }: Options, { stdin, stdout, interruption }: Streams): Promise<string> {
  const { makeOperatorSource } = await import('./operator-source.ts');
  const { startConsole } = await import('./server.ts');
  const source = makeOperatorSource(target);
  const running = await startConsole(() => source, port);
  const showLink = () => stdout.write(`Console: ${running.makeLink()}\n`);
  showLink();
  const lines = stdin.isTTY ? createInterface({ input: stdin }).on('line', showLink) : undefined;
  await new Promise<void>(resolve => {
    if (interruption?.aborted) resolve();
    interruption?.addEventListener('abort', () => resolve(), { once: true });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  lines?.close();
  await running.stop();
  return running.url;
}
