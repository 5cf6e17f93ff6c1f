/** Returns the processor time in milliseconds of this thread during an action, whatever else runs on the machine. */
export function processorTimeOf(act: () => void): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
