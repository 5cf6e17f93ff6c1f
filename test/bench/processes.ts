import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second. */
const ticksPerMillisecond = 0.1;

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has ended
  }
};

/** Processor time in milliseconds that the processes of a function of the local run have used; from /proc, Linux only. */
export const processorTime = (functionName: RegExp): number => {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const name = /(?:^|\0)AWS_LAMBDA_FUNCTION_NAME=([^\0]*)/.exec(read(`/proc/${pid}/environ`))?.[1];
    if (!name || !functionName.test(name)) continue;
    const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
    ticks += Number(fields[11] ?? 0) + Number(fields[12] ?? 0); // utime and stime
  }
  return ticks / ticksPerMillisecond;
};
