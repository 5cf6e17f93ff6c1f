/**
 * Runs a program of the laboratory by its arguments. Exits with 1 if `run` reports a fault, and with 2 and the usage if `read` throws a
 * `TypeError`.
 */
export async function runProgram<Options extends { readonly help: boolean }>(
  usage: string,
  read: (args: readonly string[]) => Options,
  run: (options: Options) => Promise<boolean>,
): Promise<never> {
  const options = readOrExit();
  if (!options.help) process.exit((await run(options)) ? 0 : 1);
  console.log(usage);
  process.exit(0);

  function readOrExit(): Options {
    try {
      return read(process.argv.slice(2));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      console.error(`${error.message}\n${usage}`);
      process.exit(2);
    }
  }
}

/** Reads the number of an option. @throws {TypeError} if it is no whole number of this range. */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d{1,9}$/.test(text) && number >= least && number <= most) return number;
  throw new TypeError(`${option} "${text}" is not a whole number from ${least} to ${most}.`);
}
