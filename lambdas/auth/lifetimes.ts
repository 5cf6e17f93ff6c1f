/** The lifetime of an access token, in seconds. */
export const accessTokenSeconds = 900;

/** The idle lifetime of a session, in seconds. */
export const refreshIdleSeconds = 14 * 86_400;

/** The absolute lifetime of a session, in seconds. */
export const refreshAbsoluteSeconds = 90 * 86_400;
