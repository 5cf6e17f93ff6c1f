/** Tells a person what long work has come to; the latest text replaces the one before. */
export type ShowProgress = (text: string) => void;

/** Work that is over within this time shows nothing. Milliseconds. */
const patience = 1_000;

/** Where no terminal shows one line in place of another, a line is written at most this often. Milliseconds. */
const pace = 5_000;

/** Shows nothing: `--json` leaves standard error to the one object that an error is. */
export const noProgress: ShowProgress = () => undefined;

/**
 * Makes the progress of a command, on standard error. `clear` takes it off a terminal before anything else is written.
 */
export const makeProgress = (
  output: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>,
  now: () => number = Date.now,
): { show: ShowProgress; clear(): void } => {
  const startedAt = now();
  let shownAt = Number.NEGATIVE_INFINITY;
  let latest = '';
  const write = (text: string) => void output.write(output.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
  return {
    show: text => {
      const isEarly = now() - startedAt < patience || (!output.isTTY && now() - shownAt < pace);
      if (text === latest || isEarly) return;
      latest = text;
      shownAt = now();
      write(text);
    },
    clear: () => {
      if (output.isTTY && latest !== '') output.write('\r\u001b[K');
      latest = '';
    },
  };
};
