import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** One measured number. */
export interface BenchResult {
  readonly name: string;
  readonly unit: string;
  /** Median of the rounds. */
  readonly value: number;
  /** Median of what it is compared with, measured in the same run, its rounds between ours. */
  readonly baseline?: number;
  /** value / baseline */
  readonly ratio?: number;
  /** Least ratio that we accept. */
  readonly bar?: number;
}

/** Measures something on a database of its own. @returns one or more results */
export type Bench = (databaseUrl: string) => Promise<BenchResult[]>;

/** Runs the work on a new, empty database of the server, and drops it afterwards. */
export async function onNewDatabase<T>(serverUrl: string, work: (databaseUrl: string) => Promise<T>): Promise<T> {
  const name = `mneme_bench_${randomBytes(4).toString('hex')}`;
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  try {
    await server.query(`CREATE DATABASE ${name}`);
    try {
      const url = new URL(serverUrl);
      url.pathname = `/${name}`;
      return await work(url.href);
    } finally {
      await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  } finally {
    await server.end();
  }
}

/** @throws Error when there are none */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new Error('no median of nothing');
  return (low + high) / 2;
}

/** Things done a second. */
export async function rate(count: number, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (count * 1000) / (performance.now() - started);
}
