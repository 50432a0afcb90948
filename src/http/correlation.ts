import { randomUUID } from 'node:crypto';

const safe = /^[A-Za-z0-9_.:-]{1,128}$/;

/** The caller's correlation id where it is fit for logs, headers and event metadata, else a new one. */
export const correlationIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && safe.test(header) ? header : randomUUID();
