/** Returns a function that reads a value at its first call and caches the value. */
export function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  return function readOnce() {
    value ??= read();
    return value;
  };
}
