/** A second, in milliseconds. */
export const second = 1_000;

/** Two clocks of processes differ by no more than this, in milliseconds. */
export const clockError = 250;

/** Milliseconds from reading to the POST: within them keys are opened, which KMS and the tables may delay. */
export const maxPreparation = 8 * second;

export const minute = 60 * second;

export const day = 24 * 60 * minute;
