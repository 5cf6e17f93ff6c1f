/** Tells a person what long work has come to; the latest text replaces the one before. */
export type ShowProgress = (text: string) => void;

/** Shows nothing: `--json` leaves standard error to the one object that an error is. */
export function noProgress(_text: string): void {}

/** Makes the progress of a command that begins now. */
export function makeProgress(
  output: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>,
  now: () => number = Date.now,
): Progress {
  const startedAt = now();
  let shownAt = Number.NEGATIVE_INFINITY;
  let latest = '';
  return {
    show: text => {
      const isEarly = now() - startedAt < patience || (!output.isTTY && now() - shownAt < pace);
      if (text === latest || isEarly) return;
      latest = text;
      shownAt = now();
      output.write(output.isTTY ? `${eraseLine}${text}` : `${text}\n`);
    },
    clear: () => {
      if (output.isTTY && latest !== '') output.write(eraseLine);
      latest = '';
    },
  };
}

/** A command's progress. `clear` takes it off a terminal before anything else is written. */
interface Progress {
  readonly show: ShowProgress;
  clear(): void;
}

/** Work that is over within this time shows nothing. Milliseconds. */
const patience = 1_000;

/** Where no terminal shows one line in place of another, a line is written at most this often. Milliseconds. */
const pace = 5_000;

const eraseLine = '\r\u001b[K';
