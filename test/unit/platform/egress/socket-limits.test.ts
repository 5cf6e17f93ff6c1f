import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { limitSessionTickets } from '../../../../lambdas/platform/egress/socket-limits.ts';

// Each costs 23 us of processor time: a receiver that hands them out at full speed held up a whole process.
it('a receiver may send sixteen session tickets, and no more', () => {
  const socket = new Socket();
  let calls = 0;
  const end = limitSessionTickets(socket, () => {
    calls += 1;
  });
  for (let ticket = 0; ticket < 16; ticket++) socket.emit('session');
  expect(calls).toBe(0);
  socket.emit('session');
  expect(calls).toBe(1);
  end();
  expect(socket.listenerCount('session')).toBe(0);
});
