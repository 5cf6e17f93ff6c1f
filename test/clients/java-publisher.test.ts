import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from '../support/e2e-accounts.ts';
import { type NoticeQueue, subscribeToRefusals } from '../support/e2e-notices.ts';
import { until } from '../support/e2e-poll.ts';
import { send } from '../support/e2e-queues.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { describeWith, output } from '../support/e2e-target.ts';
import { openSession, register } from '../support/e2e-webhooks.ts';
import { startFakeQueue } from '../support/fake-queue.ts';
import { classPath, compileJava } from '../support/java-program.ts';
import { readPage } from '../support/markdown-page.ts';
import { environmentFor } from '../support/publisher-suite.ts';

// The publisher in Java that docs/publishing.md prints, compiled with the version of the SDK that the page names, which Maven brings.

const page = readPage('docs/publishing.md');
const block = page.blocks.find(({ heading, language }) => heading === 'A publisher in Java' && language === 'java');
const version = /`software\.amazon\.awssdk:sqs` (\d+\.\d+\.\d+)/.exec(page.lines.join('\n'))?.[1] ?? '';
const home = mkdtempSync(path.join(tmpdir(), 'emissor-java-publisher-'));

beforeAll(() => {
  writeFileSync(path.join(home, 'EventPublisher.java'), block?.text ?? '');
  writeFileSync(path.join(home, 'Main.java'), main);
  const dependencies = [`software.amazon.awssdk:sqs:${version}`, 'org.slf4j:slf4j-nop:2.0.17'];
  compileJava(home, dependencies, ['EventPublisher.java', 'Main.java']);
}, 300_000);
afterAll(() => rmSync(home, { recursive: true }));

/** Publishes events, a JSON text each, for an account; hears of refusals where a queue is given. */
function publish(account: string, events: readonly object[], queueUrl: string, notices = '') {
  const args = ['-cp', classPath, 'Main', account, notices, ...events.map(event => JSON.stringify(event))];
  const child = spawn('java', args, { cwd: home, env: { ...environmentFor(queueUrl), HOME: home } });
  let written = '';
  child.stdout.on('data', chunk => (written += chunk));
  child.stderr.on('data', chunk => (written += chunk));
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  return { ended, output: () => written, end: () => child.kill() };
}

describeWith(['names', 'engines'], 'the publisher in Java', () => {
  let receiver: Receiver;
  let notices: NoticeQueue;
  beforeAll(async () => {
    receiver = await startReceiver('java-publisher');
    notices = await subscribeToRefusals();
    return () => Promise.all([receiver.stop(), notices.stop()]);
  });

  it('publishes more than a batch, and hears of what was refused, also after a fault of who is told', async () => {
    const session = await openSession(await createClient());
    const { account } = session.user;
    await register(session, { evento: 'demanda.criada', url: receiver.url('/java') });
    const demand = (id_demanda: unknown) => ({
      id_conta: account,
      event: 'demanda.criada',
      id_demanda,
      id: `java-${id_demanda}`,
    });
    const events = [...Array.from({ length: 12 }, (_, at) => demand(at + 1)), demand('no number')];
    const { ended, output: written, end } = publish(account, events, output('EventsQueueUrl'), notices.url);
    const received = await receiver.waitFor('/java', 12, 60_000);
    expect(received.map(({ body }) => JSON.parse(body).id_demanda).sort((one, other) => one - other)).toEqual(
      Array.from({ length: 12 }, (_, at) => at + 1),
    );
    await until('the notice', () => (written().includes('java-no number') ? true : undefined), 60_000);
    expect(written()).toMatch(/refused .*"reason":"malformed","detail":"id_demanda: must be a whole number/);
    await send(JSON.stringify(demand('none either')), account);
    await until('the next notice', () => written().includes('java-none either') || undefined, 60_000);
    expect(written().match(/^sent [\w-]+$/gm)).toHaveLength(13);
    expect(written()).toContain('failed 0');
    end();
    await ended;
  });

  it('tries again what failed for reasons of the queue, and returns what did not, and requests that failed', async () => {
    const sent: string[] = [];
    const refused = Array.from({ length: 10 }, (_, at) => ({ at }));
    const queue = await startFakeQueue({
      receive: time => (time === 0 ? { status: 400, code: 'Refused' } : 'judged'),
      judge({ body }, time) {
        sent.push(body);
        if (body === '{"n":2}') return { code: 'InvalidMessageContents', senderFault: true };
        if (body === '{"n":3}' && time === 0) return { code: 'RequestThrottled', senderFault: true };
        return body === '{"n":3}' && time === 1 ? { code: 'ServiceUnavailable', senderFault: false } : 'taken';
      },
    });
    try {
      const { ended, output: written } = publish('acme', [...refused, { n: 1 }, { n: 2 }, { n: 3 }], queue.url);
      expect(await ended, written()).toBe(0);
      expect(written()).toContain('not sent: InvalidMessageContents');
      const returned = [...refused, { n: 2 }].map(event => JSON.stringify(event));
      expect(written()).toContain(`failed 11 ${returned.join(' ')}\n`);
      expect(written()).toContain('not sent: Refused\n'); // and not the text of the error: that repeats an event
      expect(sent).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":3}', '{"n":3}']);
    } finally {
      await queue.stop();
    }
  });
});

const main = `import java.util.Arrays;
import java.util.stream.Collectors;
public class Main {
    public static void main(String[] args) throws Exception {
        var publisher = new EventPublisher();
        var events = Arrays.stream(args).skip(2).map(json -> new EventPublisher.Event(args[0], json)).toList();
        var failed = publisher.publish(events);
        System.out.println("failed " + failed.size() + " " + failed.stream().map(EventPublisher.Event::json).collect(Collectors.joining(" ")));
        if (!args[1].isEmpty()) publisher.hearOfRefusals(args[1], notice -> { System.out.println("refused " + notice); throw new IllegalStateException(); });
    }
}
`;
