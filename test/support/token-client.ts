import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A client of the token endpoint that `docs/pt/tokens.md` links to, compiled where that is needed. */
export interface TokenClient {
  /** Lines of code: without imports, blank lines and comments. */
  readonly lines: number;
  /**
   * Makes a call that many times at once, `GET /v1/webhooks` unless told otherwise, in a folder in which the client stores
   * its tokens. Returns the statuses, and all that it wrote. On a full disk it can make files, and write nothing into them.
   */
  run(
    folder: string,
    times: number,
    environment: Readonly<Record<string, string>>,
    how?: { readonly disk?: 'full'; readonly call?: Call },
  ): Promise<ClientRun>;
  remove(): void;
}

/** A call that a client is asked to make. */
export type Call = readonly [method: string, path: string, body?: string];

/** The output of a client's run, and its end. */
export interface ClientRun {
  readonly code: number | null;
  readonly statuses: readonly number[];
  readonly output: string;
}

/** The languages of the clients. */
export const clientLanguages = ['Node.js', 'Python', 'PHP', 'Go', 'Java', 'C#'] as const;

/** The name of such a language. */
export type ClientLanguage = (typeof clientLanguages)[number];

/** What a run's error begins with where Mono itself has crashed, which it does once in some thousand runs on a busy machine. */
export const crashOfMono = 'Mono has crashed';

/** Writes a client to a folder of its own, with a program that calls it, and compiles it where that is needed. */
export function makeTokenClient(language: ClientLanguage): TokenClient {
  const { file, driver, source, prepare, command, isOneCallEach } = programs[language];
  const code = readFileSync(path.join(samples, file), 'utf8');
  const home = mkdtempSync(path.join(tmpdir(), 'emissor-client-'));
  writeFileSync(path.join(home, file), source?.(code) ?? code);
  writeFileSync(path.join(home, driver.file), driver.text);
  if (prepare) execFileSync(prepare[0], prepare.slice(1), { cwd: home, env: { ...process.env, GO111MODULE: 'off' } });
  const isCode = (line: string) => !isComment.test(line) && !isImport.test(line);
  const lines = code.split('\n').filter(isCode).length;
  return { lines, run, remove: () => rmSync(home, { recursive: true, force: true }) };

  async function run(...[folder, times, environment, how = {}]: Parameters<TokenClient['run']>): Promise<ClientRun> {
    mkdirSync(folder, { recursive: true });
    const [program = '', ...args] = [...(how.disk ? withoutSpace : []), ...command(home)];
    const [method, path, body = ''] = how.call ?? ['GET', '/v1/webhooks'];
    const calls = isOneCallEach ? Array.from({ length: times }, () => 1) : [times];
    const runs = await Promise.all(
      calls.map(count => runOnce(program, [...args, String(count), method, path, body], folder, environment)),
    );
    const output = runs.map(one => one.output).join('');
    const statuses = [...output.matchAll(/^status (\d+)\r?$/gm)].map(([, status]) => Number(status));
    return { code: runs.find(({ code }) => code !== 0)?.code ?? 0, statuses, output };
  }
}

function runOnce(program: string, args: string[], cwd: string, environment: Readonly<Record<string, string>>) {
  return new Promise<Pick<ClientRun, 'code' | 'output'>>((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...environment } });
    let output = '';
    child.stdout.on('data', chunk => (output += chunk));
    child.stderr.on('data', chunk => (output += chunk));
    child.once('error', error =>
      reject(new Error(`${program} is needed (CONTRIBUTING.md, test/clients): ${error.message}`)),
    );
    child.once('close', code => {
      if (output.includes(monoReport)) reject(new Error(`${crashOfMono}:\n${output}`));
      else resolve({ code, output });
    });
  });
}

/** Starts the rest of the line so that each write to a file fails, as on a full disk, and does not end the process. */
const withoutSpace = ['sh', '-c', 'trap "" XFSZ && ulimit -f 0 && exec "$@"', 'sh'];

/** The title of the report that Mono writes of a crash of its own, and never of an error of the program. */
const monoReport = 'Native Crash Reporting';

const samples = path.join(import.meta.dirname, '../../docs/samples/client');

const isComment = /^\s*((\/\/|\/?\*|#(?!\[)|""").*)?$/;
const isImport = /^(import|from|using|package|\)|<\?php|\t"[a-z/]+"$)/;

interface Program {
  readonly file: string;
  readonly driver: { readonly file: string; readonly text: string };
  readonly source?: (text: string) => string;
  readonly prepare?: readonly [program: string, ...args: string[]];
  readonly command: (home: string) => readonly string[];
  /** A process of it makes one call: PHP has no threads. */
  readonly isOneCallEach?: boolean;
}

const programs: Readonly<Record<ClientLanguage, Program>> = {
  'Node.js': {
    file: 'emissor.mjs',
    driver: {
      file: 'main.mjs',
      text: `import { call } from './emissor.mjs';
const [, , count, method, path, body] = process.argv;
const times = Array.from({ length: Number(count) });
async function once() {
  const answer = await call(method, path, body || undefined);
  await answer.text();
  console.log('status', answer.status);
}
const ends = await Promise.allSettled(times.map(once));
for (const { reason } of ends) if (reason) throw reason;`,
    },
    command: home => [process.execPath, path.join(home, 'main.mjs')],
  },
  Python: {
    file: 'emissor.py',
    driver: {
      file: 'main.py',
      text: `import os, sys, threading, emissor
failures = []
def work():
    try:
        print('status %d\\n' % emissor.call(*sys.argv[2:])[0], end='', flush=True)
    except Exception as error:
        failures.append(error)
threads = [threading.Thread(target=work) for _ in range(int(sys.argv[1]))]
for thread in threads: thread.start()
for thread in threads: thread.join()
if failures: raise failures[0]`,
    },
    command: home => ['python3', path.join(home, 'main.py')],
  },
  PHP: {
    file: 'emissor.php',
    driver: {
      file: 'main.php',
      text: `<?php
require __DIR__ . '/emissor.php';
echo 'status ', call($argv[2], $argv[3], $argv[4] ?: null)['status'], "\\n";`,
    },
    command: home => ['php', path.join(home, 'main.php')],
    isOneCallEach: true,
  },
  Go: {
    file: 'emissor.go',
    source: text => text.replace('package emissor', 'package main'),
    driver: {
      file: 'main.go',
      text: `package main
import ("fmt"; "os"; "strconv"; "sync"; "sync/atomic")
func main() {
	times, _ := strconv.Atoi(os.Args[1])
	var group sync.WaitGroup
	var code atomic.Int32
	for range times {
		group.Add(1)
		go func() {
			defer group.Done()
			status, _, err := Call(os.Args[2], os.Args[3], os.Args[4])
			if err != nil { fmt.Println(err); code.Store(1); return }
			fmt.Printf("status %d\\n", status)
		}()
	}
	group.Wait()
	os.Exit(int(code.Load()))
}`,
    },
    prepare: ['go', 'build', '-o', 'client', 'emissor.go', 'main.go'],
    command: home => [path.join(home, 'client')],
  },
  Java: {
    file: 'Emissor.java',
    driver: {
      file: 'Main.java',
      text: `import java.util.concurrent.*;
public class Main {
    public static void main(String[] args) throws Exception {
        var pool = Executors.newCachedThreadPool();
        var calls = new java.util.ArrayList<Future<?>>();
        for (int at = 0; at < Integer.parseInt(args[0]); at++)
            calls.add(pool.submit(() -> { System.out.println("status " + Emissor.call(args[1], args[2], args[3]).statusCode()); return null; }));
        pool.shutdown();
        for (var call : calls) call.get();
    }
}`,
    },
    prepare: ['javac', '-Werror', 'Emissor.java', 'Main.java'],
    command: home => ['java', '-cp', home, 'Main'],
  },
  'C#': {
    file: 'Emissor.cs',
    driver: {
      file: 'Main.cs',
      text: `using System; using System.Linq; using System.Threading.Tasks;
static class Program
{
    static void Main(string[] args)
    {
        Task.WhenAll(Enumerable.Range(0, int.Parse(args[0])).Select(_ => Task.Run(async () =>
            Console.WriteLine("status " + (int)(await Emissor.Call(args[1], args[2], args[3] == "" ? null : args[3])).StatusCode)))).GetAwaiter().GetResult();
    }
}`,
    },
    prepare: [
      'mcs',
      '-langversion:7',
      '-warnaserror',
      '-r:System.Net.Http.dll',
      '-out:Client.exe',
      'Emissor.cs',
      'Main.cs',
    ],
    command: home => ['mono', path.join(home, 'Client.exe')],
  },
};
