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
  /** Largest ratio that we accept: of times, where less is better. */
  readonly ceiling?: number;
  /** Least value that we accept of a machine that has nothing else to do. */
  readonly least?: number;
  /** Largest value that we accept. */
  readonly most?: number;
  /** What else was measured beside it. */
  readonly note?: string;
}

export interface BenchOptions {
  /** Few rounds on little data: shows that it runs, and about what comes out. */
  readonly quick: boolean;
}

/** Measures something on a database of its own. @returns one or more results */
export type Bench = (databaseUrl: string, options: BenchOptions) => Promise<BenchResult[]>;

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

/** What is measured and what it is compared with, on the same amount of new work. */
export interface Round {
  readonly ours: () => Promise<number>;
  readonly theirs: () => Promise<number>;
}

/** Medians of rounds in which the two take turns, so that what else the machine does hits both. The first round warms up. */
export async function compared(
  about: Omit<BenchResult, 'value' | 'baseline' | 'ratio'>,
  rounds: number,
  round: () => Round | Promise<Round>,
): Promise<BenchResult> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let count = 0; count <= rounds; count++) {
    const work = await round();
    const [one, other] = [await work.ours(), await work.theirs()];
    if (count === 0) continue;
    ours.push(one);
    theirs.push(other);
  }
  return against(about, median(ours), median(theirs));
}

export const against = (
  { name, unit, ...rest }: Omit<BenchResult, 'value' | 'baseline' | 'ratio'>,
  value: number,
  baseline: number,
): BenchResult => ({ name, unit, value, baseline, ratio: value / baseline, ...rest });

/** @throws Error when there are none */
export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** Between the two values next to it, in proportion. @param share from 0 to 1 @throws Error when there are no values */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  if (low === undefined || high === undefined) throw new Error('no percentile of nothing');
  return low + (high - low) * (place - Math.floor(place));
}

/** Things done a second. */
export async function rate(count: number, work: () => Promise<unknown>): Promise<number> {
  return (count * 1000) / (await milliseconds(work));
}

export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
