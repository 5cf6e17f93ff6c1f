import { type FileHandle, open } from 'node:fs/promises';
import * as z from 'zod';

/**
 * Returns the ids of the deliveries that a partial export has, and when the last of them was read; cuts off what comes after them. They
 * stand first. What was read over a day ago is cut off, too: it says what was true then.
 */
export async function resumeExport(partial: string, now: number) {
  const ids = new Set<string>();
  let end = 0;
  let handle: FileHandle;
  try {
    handle = await open(partial, 'r+');
  } catch {
    return { ids, readAt: now }; // there is none
  }
  try {
    const { size, mtimeMs: readAt } = await handle.stat();
    const lines = readAt < now - longestResumed ? [] : handle.readLines({ autoClose: false, start: 0 });
    for await (const line of lines) {
      const id = deliveryIdIn(line);
      const next = end + Buffer.byteLength(line) + 1;
      if (id === undefined || next > size) break; // it was being written
      ids.add(id);
      end = next;
    }
    await handle.truncate(end);
    return { ids, readAt };
  } finally {
    await handle.close();
  }
}

/** Milliseconds. */
const longestResumed = 86_400_000;

function deliveryIdIn(line: string): string | undefined {
  try {
    return deliveryLine.safeParse(JSON.parse(line)).data?.id;
  } catch {
    return undefined;
  }
}

const deliveryLine = z.object({ type: z.literal('delivery'), id: z.string() });
