/** Sets a value as the newest entry of a cache, and removes the oldest entry if the cache exceeds `maxEntries`. */
export function setBounded<Key, Value>(cache: Map<Key, Value>, key: Key, value: Value, maxEntries: number): void {
  cache.delete(key);
  cache.set(key, value);
  const oldest = cache.size > maxEntries ? cache.keys().next() : undefined;
  if (oldest && !oldest.done) cache.delete(oldest.value);
}
