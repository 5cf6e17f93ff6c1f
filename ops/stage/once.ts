/** Returns what reads a value when it is first asked for, and once. */
export function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  return function readOnce() {
    value ??= read();
    return value;
  };
}
