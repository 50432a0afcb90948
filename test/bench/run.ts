import Table from 'cli-table3';
import { appendBench } from './append.bench.js';
import { onNewDatabase, type Bench, type BenchResult } from './bench.js';
import { eventStoreDbBench } from './eventstoredb.bench.js';
import { recallBench } from './recall.bench.js';

const benches: readonly Bench[] = [appendBench, recallBench];

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

function table(results: readonly BenchResult[]): string {
  const rows = new Table({ head: ['measured', 'value', 'unit', 'baseline', 'ratio', 'bar'], style: { head: [], border: [] } });
  for (const { name, value, unit, baseline, ratio, bar } of results) {
    rows.push([
      name,
      number.format(value),
      unit,
      baseline === undefined ? '' : number.format(baseline),
      ratio?.toFixed(2) ?? '',
      bar === undefined ? '' : `>= ${bar}`,
    ]);
  }
  return rows.toString();
}

/** Measures on a server of its own choice only: the embedded database would measure WebAssembly. @returns exit code */
async function run(serverUrl: string | undefined, json: boolean): Promise<number> {
  if (!serverUrl) {
    console.error('set MNEME_TEST_DATABASE_URL to a PostgreSQL server with pgvector on which databases may be created');
    return 2;
  }
  const results: BenchResult[] = [];
  for (const bench of benches) results.push(...(await onNewDatabase(serverUrl, bench)));
  results.push(...(await eventStoreDbBench()));
  console.log(json ? JSON.stringify(results, null, 2) : table(results));
  const missed = results.filter(({ ratio, bar }) => ratio !== undefined && bar !== undefined && ratio < bar);
  for (const { name } of missed) console.error(`below its bar: ${name}`);
  return missed.length === 0 ? 0 : 1;
}

process.exitCode = await run(process.env.MNEME_TEST_DATABASE_URL, process.argv.includes('--json'));
