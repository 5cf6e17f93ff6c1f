/** A line of a file. The text is missing if the line is too long or is not UTF-8. */
export interface NumberedLine {
  /** The line number, starting at 1. */
  readonly number: number;
  readonly text: string | undefined;
}

/**
 * Reads the lines of a file one by one. Memory use depends on `maxBytes`, not on the size of the file. Skips blank lines
 * and a byte order mark.
 * @param maxBytes - the maximum number of bytes in a line.
 */
export async function* readLines(file: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<NumberedLine> {
  let number = 0;
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of file) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      keep(chunk.subarray(start, end));
      yield* finish();
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  yield* finish();

  function keep(part: Buffer): void {
    length += part.length;
    if (length <= maxBytes) parts.push(part);
  }

  function* finish(): Generator<NumberedLine> {
    number += 1;
    const text = length <= maxBytes ? decode(Buffer.concat(parts), number === 1) : undefined;
    parts = [];
    length = 0;
    if (text === undefined || text.trim() !== '') yield { number, text };
  }
}

const lineFeed = 0x0a;

function decode(bytes: Buffer, isFirst: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: !isFirst }).decode(bytes);
  } catch {
    return undefined;
  }
}
