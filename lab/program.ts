/** Runs a command-line program. Exits with 1 if `run` returns false. Prints the usage and exits with 2 if `read` throws a `TypeError`. */
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

/** Parses an option's value. @throws {TypeError} if the value is not a whole number from `min` to `max`. */
export function wholeNumber(option: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (/^\d{1,9}$/.test(text) && number >= min && number <= max) return number;
  throw new TypeError(`${option} must be a whole number from ${min} to ${max}, not "${text}".`);
}
