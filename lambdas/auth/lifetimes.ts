/** The lifetime of an access token, in seconds. */
export const accessTokenSeconds = 900;

/** The idle lifetime of a session, in seconds. */
export const refreshIdleSeconds = 14 * 86_400;

/** The lifetime of a session from its login in seconds, regardless of its use. */
export const refreshAbsoluteSeconds = 90 * 86_400;
