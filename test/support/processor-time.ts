/** Returns the processor time of this thread during an action, in milliseconds, excluding other work on the machine. */
export function processorTimeOf(act: () => void): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
