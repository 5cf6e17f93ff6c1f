/**
 * Ends what is under way when the process is interrupted. Further signals change nothing until it has tidied up: npm sends Ctrl-C on,
 * so that it arrives twice.
 *
 * @param other - interrupts it, too.
 */
export async function untilInterrupted<Value>(
  act: (interruption: AbortSignal) => Promise<Value>,
  other: AbortSignal | undefined,
): Promise<Value> {
  const end = new AbortController();
  const interrupt = () => end.abort();
  for (const name of signals) process.on(name, interrupt);
  try {
    return await act(other ? AbortSignal.any([end.signal, other]) : end.signal);
  } finally {
    for (const name of signals) process.off(name, interrupt);
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
