/**
 * Makes a counter of TLS records for the beginning of a stream. A record is a header of five bytes, the type first and the length
 * of what follows last (RFC 8446 section 5.1, RFC 5246 section 6.2.1). Headers and contents may be cut anywhere. `onRecord` is
 * called for each record with its type.
 */
export function makeRecordCounter(onRecord: (type: number) => void = () => undefined) {
  let begun = 0;
  /** The number of bytes of the present header that have come. */
  let headerBytes = 0;
  let contentLength = 0;
  let contentLeft = 0;
  return { records, count };

  /** Returns the number of records that have begun. */
  function records(): number {
    return begun;
  }

  /**
   * Counts on over `data` from the offset `start`. Returns the offset at which it stopped: before the record that would be
   * one more than `most`, or at the end of `data`.
   */
  function count(data: Uint8Array, start = 0, most = Number.POSITIVE_INFINITY): number {
    const last = begun + most;
    let at = start;
    while (at < data.length) {
      if (contentLeft > 0) {
        const skipped = Math.min(contentLeft, data.length - at);
        contentLeft -= skipped;
        at += skipped;
      } else {
        if (headerBytes === 0 && begun === last) return at;
        readHeaderByte(data[at] ?? 0);
        at += 1;
      }
    }
    return at;
  }

  function readHeaderByte(byte: number): void {
    if (headerBytes === 0) {
      begun += 1;
      onRecord(byte);
    }
    if (headerBytes === 3) contentLength = byte << 8;
    if (headerBytes === 4) contentLeft = contentLength | byte;
    headerBytes = (headerBytes + 1) % headerLength;
  }
}

const headerLength = 5;
