import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { limitConnectTime } from '../../../../lambdas/platform/egress/pinned-request.ts';

/** A process: its clock, which stands still while the process does, and its timers. */
const startProcess = () => {
  let elapsed = 0;
  return {
    elapsed: () => elapsed,
    pass: async (milliseconds: number) => {
      elapsed += milliseconds;
      await vi.advanceTimersByTimeAsync(milliseconds);
      await vi.advanceTimersByTimeAsync(1); // fake immediates take a millisecond
    },
    standStill: (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds),
  };
};

describe('the time to connect', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('runs out after so many milliseconds', async () => {
    const { elapsed, pass } = startProcess();
    const onLate = vi.fn();
    limitConnectTime(new Socket(), elapsed, 700, onLate);
    await pass(699);
    expect(onLate).not.toHaveBeenCalled();
    await pass(1);
    expect(onLate).toHaveBeenCalledOnce();
  });

  it('does not include what this process stood still', async () => {
    const { elapsed, pass, standStill } = startProcess();
    const onLate = vi.fn();
    limitConnectTime(new Socket(), elapsed, 700, onLate);
    await pass(600);
    await standStill(1_000);
    await pass(99);
    expect(onLate).not.toHaveBeenCalled();
    await pass(1);
    expect(onLate).toHaveBeenCalledOnce();
  });

  it.each<[string, (socket: Socket, end: () => void) => void]>([
    ['its connection', socket => void socket.emit('connect')],
    ['its watch', (_socket, end) => end()],
  ])('ends with %s', async (_case, act) => {
    const { elapsed, pass, standStill } = startProcess();
    const onLate = vi.fn();
    const socket = new Socket();
    const end = limitConnectTime(socket, elapsed, 700, onLate);
    await pass(300);
    await standStill(1_000); // the timer has been set anew
    act(socket, end);
    await pass(5_000);
    expect(onLate).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});
