import { type FileHandle, open } from 'node:fs/promises';
import * as z from 'zod';

/** Returns the ids of the deliveries that a partial export has, and cuts off what comes after them. They stand first. */
export async function resumeExport(partial: string): Promise<Set<string>> {
  const ids = new Set<string>();
  let end = 0;
  let handle: FileHandle;
  try {
    handle = await open(partial, 'r+');
  } catch {
    return ids; // there is none
  }
  try {
    const { size } = await handle.stat();
    for await (const line of handle.readLines({ autoClose: false, start: 0 })) {
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

function deliveryIdIn(line: string): string | undefined {
  try {
    return deliveryLine.safeParse(JSON.parse(line)).data?.id;
  } catch {
    return undefined;
  }
}

const deliveryLine = z.object({ type: z.literal('delivery'), id: z.string() });
