import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { limitConnectTime } from '../../../../lambdas/platform/egress/connect-time.ts';

/** A process: its clock, which stands still while the process does, and its timers. */
const startProcess = () => {
  let elapsed = 0;
  return {
    elapsed: () => elapsed,
    pass: (milliseconds: number) => {
      elapsed += milliseconds;
      vi.advanceTimersByTime(milliseconds);
      vi.advanceTimersByTime(1); // fake immediates take a millisecond
    },
    standStill: (milliseconds: number) => void vi.advanceTimersByTime(milliseconds),
  };
};

describe('the time to connect', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('runs out after so many milliseconds', () => {
    const { elapsed, pass } = startProcess();
    const onLate = vi.fn();
    limitConnectTime(new Socket(), elapsed, 700, onLate);
    pass(699);
    expect(onLate).not.toHaveBeenCalled();
    pass(1);
    expect(onLate).toHaveBeenCalledOnce();
  });

  it('does not include what this process stood still', () => {
    const { elapsed, pass, standStill } = startProcess();
    const onLate = vi.fn();
    limitConnectTime(new Socket(), elapsed, 700, onLate);
    pass(600);
    standStill(1_000);
    pass(99);
    expect(onLate).not.toHaveBeenCalled();
    pass(1);
    expect(onLate).toHaveBeenCalledOnce();
  });

  it.each<[string, (socket: Socket, end: () => void) => void]>([
    ['its connection', socket => void socket.emit('connect')],
    ['its watch', (_socket, end) => end()],
  ])('ends with %s', (_case, act) => {
    const { elapsed, pass, standStill } = startProcess();
    const onLate = vi.fn();
    const socket = new Socket();
    const end = limitConnectTime(socket, elapsed, 700, onLate);
    pass(300);
    standStill(1_000); // the timer has been set anew
    act(socket, end);
    pass(5_000);
    expect(onLate).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});
