import { describe, expect, it } from 'vitest';
import { makeSeededRandom } from '../../src/seeded-random.ts';
import { makeTime } from '../../src/time.ts';
import { makeProcesses } from '../../src/virtual/processes.ts';

function start(skew = 0) {
  const time = makeTime(0, () => processes.clearCurrent());
  const randomOf = (name: string) => makeSeededRandom(1, name);
  const processes = makeProcesses({ time, costs: { coreShare: 0.5, timer: 0 }, note: () => {}, randomOf }, skew);
  const process = processes.start('f', 1);
  const recorded: string[] = [];
  const record = (text: string) => () => void recorded.push(`${time.now()} ${text}`);
  return { time, process, processes, recorded, record };
}

describe('a process', () => {
  it('handles arrivals in order, when its thread is free', async () => {
    const { time, process, recorded, record } = start();
    process.time.after(3, record('late timer'));
    process.deliver(() => process.work(5)); // 10 ms on half a core
    time.at(2, () => process.deliver(record('late response')));
    await time.runUntil(20);
    expect(recorded).toEqual(['10 late response', '10 late timer']);
  });

  it('pauses while it is frozen', async () => {
    const { time, process, recorded, record } = start();
    process.time.after(5, record('timer'));
    process.freeze();
    time.at(50, () => process.thaw('1'));
    await time.runUntil(100);
    expect(recorded).toEqual(['50 timer']);
  });

  it('discards arrivals after its death', async () => {
    const { time, process, recorded, record } = start();
    process.onDeath(record('dead'));
    process.time.after(5, record('timer'));
    process.deliver(() => process.kill('in a test'));
    process.deliver(record('response'));
    await time.runUntil(100);
    process.thaw('1');
    process.deliver(record('response'));
    await time.runUntil(200);
    expect(recorded).toEqual(['0 dead']);
  });

  it('has timers that can be cancelled, and pauses that can be aborted', async () => {
    const { time, process, processes, recorded, record } = start();
    const abort = new AbortController();
    process.deliver(async () => {
      const cancel = process.time.after(5, record('never'));
      process.time.pause(10, abort.signal).catch(record('aborted'));
      process.time.after(0, record('after a millisecond'));
      process.deliver(record('arrived'));
      await process.time.turn();
      record(processes.current() === process ? 'turn' : 'lost')();
      cancel();
      process.time.after(2, () => abort.abort());
    });
    await time.runUntil(20);
    expect(recorded).toEqual(['0 arrived', '0 turn', '1 after a millisecond', '2 aborted']);
    expect(processes.current()).toBeUndefined();
  });

  it('has a clock error of at most the skew, and a separate stream of random numbers', () => {
    const { process, processes } = start(100);
    const other = processes.start('f', 2);
    expect(Math.abs(process.time.now())).toBeLessThanOrEqual(100);
    expect(process.time.now()).not.toBe(other.time.now());
    expect(process.random.bytes(8)).not.toEqual(other.random.bytes(8));
    expect(process.time.elapsed()).toBe(0);
  });
});
