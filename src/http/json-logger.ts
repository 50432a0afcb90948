import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Configuration } from '../config/configuration.js';
import { errorFacts } from '../error-facts.js';

const secrets: readonly [RegExp, string][] = [
  [/\b([a-z][a-z0-9+.-]{1,30}:\/\/)[^\s"']*@/gi, '$1[redacted]@'],
  // Exactly as long as a key: streams and schemas have the same prefix.
  [/(?<![A-Za-z0-9_-])(mneme(?:-local)?_)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g, '$1[redacted]'],
  [/\b(Bearer) +[^\s"',]+/gi, '$1 [redacted]'],
];

/** Takes credentials of connection strings, API keys and bearer tokens out of a text. */
export const redacted = (text: string): string => secrets.reduce((rest, [secret, stand]) => rest.replace(secret, stand), text);

/** Nest's own start-up chatter, a line per module and route. */
const chatter = new Set(['InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestFactory', 'NestApplication']);

/**
 * One JSON object a line. Everything that is written passes through `redacted`, whatever logged it: a library's error text
 * may hold a connection string.
 */
export class JsonLogger implements LoggerService {
  /** For our own code: `records.info({ correlation_id }, 'what happened')`. */
  readonly records: Logger;

  constructor(level: Configuration['logLevel'], destination: DestinationStream = process.stdout) {
    this.records = pino(
      { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
      { write: (line: string) => destination.write(redacted(line)) },
    );
  }

  log(message: unknown, ...context: unknown[]): void {
    const name = contextOf(context);
    if (name !== undefined && chatter.has(name)) this.debug(message, ...context);
    else this.write('info', message, context);
  }

  error(message: unknown, ...context: unknown[]): void {
    this.write('error', message, context);
  }

  warn(message: unknown, ...context: unknown[]): void {
    this.write('warn', message, context);
  }

  debug(message: unknown, ...context: unknown[]): void {
    this.write('debug', message, context);
  }

  verbose(message: unknown, ...context: unknown[]): void {
    this.write('debug', message, context);
  }

  fatal(message: unknown, ...context: unknown[]): void {
    this.write('fatal', message, context);
  }

  private write(level: 'fatal' | 'error' | 'warn' | 'info' | 'debug', message: unknown, context: readonly unknown[]): void {
    const facts = { context: contextOf(context) };
    if (message instanceof Error) this.records[level]({ ...facts, ...errorFacts(message) }, 'error');
    else this.records[level](facts, typeof message === 'string' ? message : 'not a text');
  }
}

/** Nest passes the name of the logging class last. */
function contextOf(context: readonly unknown[]): string | undefined {
  const last = context.at(-1);
  return typeof last === 'string' ? last : undefined;
}
