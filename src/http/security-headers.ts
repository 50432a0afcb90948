/** What an answer of the API may do in a browser: nothing. */
const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The page at /docs runs its own scripts and asks its own service, and nothing else. Its styles stand in the page itself, and
 * its icons in its styles.
 */
const documentation = `${nothing}; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'`;

/** Headers for browsers, on every answer. TLS is the proxy's, and so is what it says of it (Strict-Transport-Security). */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': nothing,
} as const;

export const documentationHeaders = { 'content-security-policy': documentation } as const;

/** @param route template of the route, undefined where there is none */
export const isDocumentation = (route: string | undefined): boolean =>
  route === '/docs' || (route?.startsWith('/docs/') ?? false);
