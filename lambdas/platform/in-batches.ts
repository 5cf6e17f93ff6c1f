/** Cuts a list into parts of that length. The last part may be shorter than the others. */
export function chunksOf<Value>(values: readonly Value[], length: number): Value[][] {
  return Array.from({ length: Math.ceil(values.length / length) }, (_, at) =>
    values.slice(at * length, (at + 1) * length),
  );
}

/** Gathers what comes one by one. The last batch may have fewer than the others. */
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
