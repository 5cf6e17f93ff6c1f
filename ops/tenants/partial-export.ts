import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import * as z from 'zod';

/**
 * Returns the ids of the deliveries that a partial export has, and when it was begun: no delivery was read before that. They stand
 * first; what comes after them is cut off. An export that was begun over a day ago begins anew: it says what was true then.
 */
export async function resumeExport(partial: string, now: number) {
  const begunAt = Number(await readFile(momentOf(partial), 'utf8').catch(() => 0));
  const ids = await cutOff(partial, begunAt >= now - longestResumed);
  if (ids.size > 0) return { ids, begunAt };
  await writeFile(momentOf(partial), `${now}`).catch(() => undefined); // without it a later run begins anew
  return { ids, begunAt: now };
}

/** Gives a partial export its name where it is whole, and removes it otherwise. */
export async function endExport(partial: string, file?: string): Promise<void> {
  await (file === undefined ? rm(partial, { force: true }) : rename(partial, file));
  await rm(momentOf(partial), { force: true });
}

/** The file that holds when an export was begun. The times of the export itself are those of its last change. */
function momentOf(partial: string): string {
  return `${partial}.begun`;
}

/** Cuts off what comes after the whole deliveries of a partial export, or all. Returns the ids of those that stay. */
async function cutOff(partial: string, isKept: boolean): Promise<Set<string>> {
  const ids = new Set<string>();
  const handle = await open(partial, 'r+').catch(() => undefined);
  if (!handle) return ids; // there is none
  try {
    let end = 0;
    const { size } = await handle.stat();
    const lines = isKept ? handle.readLines({ autoClose: false, start: 0 }) : [];
    for await (const line of lines) {
      const id = deliveryIdIn(line);
      const next = end + Buffer.byteLength(line) + 1;
      if (id === undefined || next > size) break; // it was being written
      ids.add(id);
      end = next;
    }
    await handle.truncate(end);
    return ids;
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
