/** Returns the processor time, in milliseconds, that this thread spends on something: what else runs on the machine adds none. */
export function processorTimeOf(act: () => void): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
