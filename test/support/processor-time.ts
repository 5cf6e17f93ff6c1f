/** Returns the processor time of this thread during an action, in milliseconds. It excludes other work on the computer. */
export function processorTimeOf(act: () => void): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
