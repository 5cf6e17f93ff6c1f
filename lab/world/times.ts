/** A second, in milliseconds. */
export const second = 1_000;

/** Two clocks of processes differ by no more than this, in milliseconds. */
export const clockError = 250;

/** A minute, in milliseconds. */
export const minute = 60 * second;
