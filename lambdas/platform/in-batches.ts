/** Splits a list into chunks of `length` values. The last chunk may be shorter. */
export function chunksOf<Value>(values: readonly Value[], length: number): Value[][] {
  return Array.from({ length: Math.ceil(values.length / length) }, (_, at) =>
    values.slice(at * length, (at + 1) * length),
  );
}

/** Groups values into batches of `size`. The last batch may be smaller. */
export async function* inBatches<Value>(
  values: AsyncIterable<Value> | Iterable<Value>,
  size: number,
): AsyncGenerator<readonly Value[]> {
  let batch: Value[] = [];
  for await (const value of values) {
    batch.push(value);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
