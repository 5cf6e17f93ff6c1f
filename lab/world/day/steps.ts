/** The simulation of the slow lane goes in steps this long, in milliseconds. */
export const step = 100;

/** Returns the first step that begins at a moment or after it. */
export function nextStep(moment: number): number {
  return Math.ceil(moment / step) * step;
}
