/** A second, in milliseconds. */
export const second = 1_000;

/** A minute, in milliseconds. */
export const minute = 60 * second;
