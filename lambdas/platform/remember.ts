/** Sets a value as the newest entry of a memory, and removes the oldest entry beyond `maxEntries`. */
export function remember<Key, Value>(memory: Map<Key, Value>, key: Key, value: Value, maxEntries: number): void {
  memory.delete(key);
  memory.set(key, value);
  const oldest = memory.size > maxEntries ? memory.keys().next() : undefined;
  if (oldest && !oldest.done) memory.delete(oldest.value);
}
