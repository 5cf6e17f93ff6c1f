/** A line that a function wrote, and when. Milliseconds since the epoch. */
export interface KeptLine {
  readonly at: number;
  readonly text: string;
}

/** The lines of log groups, each with its latest. */
export interface KeptLines {
  put(group: string, text: string): void;
  /** Since when all lines of a group are kept. */
  since(group: string): number;
  /** The lines of groups in a span that hold a text, the newest first. */
  find(groups: readonly string[], text: string, from: number, to: number): readonly KeptLine[];
}

/** Makes the memory of a run: `most` lines of each group at least, twice as many at most. */
export function makeKeptLines(most: number, now: () => number = Date.now): KeptLines {
  const startedAt = now();
  const groups = new Map<string, { lines: KeptLine[]; since: number }>();
  return {
    put: (name, text) => {
      const group = groups.get(name) ?? { lines: [], since: startedAt };
      groups.set(name, group);
      group.lines.push({ at: now(), text });
      if (group.lines.length <= 2 * most) return;
      group.lines = group.lines.slice(-most);
      group.since = group.lines[0]?.at ?? startedAt;
    },
    since: name => groups.get(name)?.since ?? startedAt,
    find: (names, text, from, to) =>
      names
        .flatMap(name => groups.get(name)?.lines ?? [])
        .filter(line => line.at >= from && line.at <= to && line.text.includes(text))
        .reverse()
        .toSorted((one, other) => other.at - one.at),
  };
}
