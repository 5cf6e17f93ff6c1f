/** Sets a value as the newest of a memory, which forgets its oldest where it would have more than `most`. */
export function remember<Key, Value>(memory: Map<Key, Value>, key: Key, value: Value, most: number): void {
  memory.delete(key);
  memory.set(key, value);
  const oldest = memory.size > most ? memory.keys().next() : undefined;
  if (oldest && !oldest.done) memory.delete(oldest.value);
}
