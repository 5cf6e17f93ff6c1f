/** Returns a function that reads a value on its first call and caches it. */
export function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  return function readOnce() {
    value ??= read();
    return value;
  };
}
