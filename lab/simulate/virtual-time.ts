/** A simulated clock with scheduled actions. It jumps from one action to the next. Milliseconds. */
export interface VirtualTime {
  now(): number;
  /** Schedules an action, after those scheduled earlier for the same moment. */
  at(moment: number, act: () => void): void;
  /** Runs all actions scheduled until a moment. */
  runUntil(moment: number): void;
}

/** Makes a clock that starts at zero. The scheduled actions are a binary heap. */
export function makeVirtualTime(): VirtualTime {
  let present = 0;
  let planned = 0;
  const heap: Action[] = [];

  return {
    now: () => present,
    at: (moment, act) => {
      const action = { moment: Math.max(moment, present), order: planned++, act };
      let child = heap.length;
      heap.push(action);
      while (child > 0) {
        const parent = (child - 1) >> 1;
        const above = heap[parent] as Action;
        if (!isBefore(action, above)) break;
        heap[child] = above;
        child = parent;
      }
      heap[child] = action;
    },
    runUntil: moment => {
      for (let first = heap[0]; first && first.moment <= moment; first = heap[0]) {
        const last = heap.pop() as Action;
        if (heap.length > 0) sink(heap, last);
        present = first.moment;
        first.act();
      }
      present = moment;
    },
  };
}

interface Action {
  readonly moment: number;
  readonly order: number;
  readonly act: () => void;
}

/** Puts an action in the place of the first one, and moves it down to where it belongs. */
function sink(heap: Action[], action: Action): void {
  let parent = 0;
  for (let child = 1; child < heap.length; child = 2 * parent + 1) {
    const right = heap[child + 1];
    if (right && isBefore(right, heap[child] as Action)) child += 1;
    const below = heap[child] as Action;
    if (!isBefore(below, action)) break;
    heap[parent] = below;
    parent = child;
  }
  heap[parent] = action;
}

function isBefore(one: Action, other: Action): boolean {
  return one.moment < other.moment || (one.moment === other.moment && one.order < other.order);
}
