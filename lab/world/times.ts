/** One second in milliseconds, the unit of all times in this folder. */
export const second = 1_000;

/** The maximum difference between the clocks of two processes, in milliseconds. */
export const clockError = 250;

/** The maximum time from reading a delivery to its POST. KMS and the tables may delay the decryption of keys. */
export const maxPreparation = 8 * second;

export const minute = 60 * second;

export const day = 24 * 60 * minute;
