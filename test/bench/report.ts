import { cpus, loadavg, totalmem } from 'node:os';
import Table from 'cli-table3';
import pg from 'pg';
import type { BenchResult } from './bench.js';

/** What the figures are figures of. */
export interface Surroundings {
  readonly node: string;
  readonly postgres: string;
  readonly processor: string;
  readonly cores: number;
  readonly memory_gb: number;
  /** Of the last minute: how many processes wanted a core, this bench among them. */
  readonly load: number;
}

export async function surroundings(serverUrl: string): Promise<Surroundings> {
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  try {
    const { rows } = await server.query<{ server_version: string }>('SHOW server_version');
    const cores = cpus();
    return {
      node: process.version,
      postgres: rows[0]?.server_version ?? 'unknown',
      processor: cores[0]?.model.trim() ?? 'unknown',
      cores: cores.length,
      memory_gb: Math.round(totalmem() / 2 ** 30),
      load: Number((loadavg()[0] ?? 0).toFixed(1)),
    };
  } finally {
    await server.end();
  }
}

const large = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const small = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const number = (value: number): string => (Math.abs(value) < 100 ? small : large).format(value);

export function table(results: readonly BenchResult[], { node, postgres, processor, cores, load }: Surroundings): string {
  const rows = new Table({
    head: ['measured', 'value', 'unit', 'baseline', 'ratio', 'bar', 'beside it'],
    style: { head: [], border: [] },
  });
  for (const { name, value, unit, baseline, ratio, note, ...bars } of results) {
    const compared = [baseline === undefined ? '' : number(baseline), ratio?.toFixed(2) ?? ''];
    rows.push([name, number(value), unit, ...compared, limits(bars), note ?? '']);
  }
  return `${rows.toString()}\nNode ${node}, PostgreSQL ${postgres}, ${cores} cores of ${processor}, load at the end ${load}`;
}

const limits = ({ bar, ceiling, least, most }: Pick<BenchResult, 'bar' | 'ceiling' | 'least' | 'most'>): string =>
  [
    ...(bar === undefined ? [] : [`ratio >= ${bar.toFixed(2)}`]),
    ...(ceiling === undefined ? [] : [`ratio <= ${ceiling}`]),
    ...(least === undefined ? [] : [`>= ${large.format(least)}`]),
    ...(most === undefined ? [] : [`<= ${large.format(most)}`]),
  ].join(', ');

/** Names of the results beyond a bar. Absolute bars are of an idle machine, and count only on one. */
export const missed = (results: readonly BenchResult[], idle: boolean): string[] =>
  results.filter((result) => beyondRatio(result) || (idle && beyondValue(result))).map(({ name }) => name);

const beyondRatio = ({ ratio, bar = 0, ceiling = Number.POSITIVE_INFINITY }: BenchResult): boolean =>
  ratio !== undefined && (ratio < bar || ratio > ceiling);

const beyondValue = ({ value, least = 0, most = Number.POSITIVE_INFINITY }: BenchResult): boolean =>
  value < least || value > most;
