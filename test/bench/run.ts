import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { Command } from 'commander';
import { appendBench } from './append.bench.js';
import { onNewDatabase, type Bench, type BenchOptions, type BenchResult } from './bench.js';
import { embeddingBench } from './embedding.bench.js';
import { eventStoreDbBench } from './eventstoredb.bench.js';
import { httpBench } from './http.bench.js';
import { memoryBench } from './memory.bench.js';
import { PeersNotInstalled } from './peer-packages.js';
import { peersBench } from './peers.bench.js';
import { rebuildUnderLoadBench } from './rebuild-under-load.bench.js';
import { recallBench } from './recall.bench.js';
import { replayBench } from './replay.bench.js';
import { missed, surroundings, table } from './report.js';

/** By the names they are asked for with. */
const benches: Readonly<Record<string, Bench>> = {
  append: appendBench,
  replay: replayBench,
  recall: recallBench,
  embedding: (_, options) => embeddingBench(options),
  rebuild: rebuildUnderLoadBench,
  http: httpBench,
  memory: memoryBench,
  eventstoredb: (_, options) => eventStoreDbBench(options),
  // Installs packages, so only where it is asked for.
  peers: peersBench,
};

interface Wanted extends BenchOptions {
  readonly peers: boolean;
  /** `true`: on the standard output. */
  readonly json: string | true | undefined;
}

/** Measures on a server of its own choice only: the embedded database would measure WebAssembly. @returns exit code */
async function run(names: readonly string[], wanted: Wanted, serverUrl: string | undefined): Promise<number> {
  const unknown = names.find((name) => !(name in benches));
  if (unknown !== undefined) {
    console.error(`there is no bench ${unknown}; there are ${Object.keys(benches).join(', ')}`);
    return 2;
  }
  if (!serverUrl) {
    console.error('set MNEME_TEST_DATABASE_URL to a PostgreSQL server with pgvector on which databases may be created');
    return 2;
  }
  const idle = (loadavg()[0] ?? 0) < 0.5;
  const results: BenchResult[] = [];
  for (const name of chosen(names, wanted.peers)) {
    console.error(`${name} ...`);
    results.push(...(await measured(name, serverUrl, wanted)));
  }
  await report(results, serverUrl, wanted);
  const beyond = missed(results, idle);
  for (const name of beyond) console.error(`beyond its bar: ${name}`);
  return beyond.length === 0 ? 0 : 1;
}

function chosen(names: readonly string[], peers: boolean): string[] {
  const all = names.length > 0 ? names : Object.keys(benches).filter((name) => name !== 'peers');
  return [...new Set([...all, ...(peers ? ['peers'] : [])])];
}

async function measured(name: string, serverUrl: string, { quick }: BenchOptions): Promise<BenchResult[]> {
  const bench = benches[name];
  if (!bench) return [];
  try {
    return await onNewDatabase(serverUrl, (databaseUrl) => bench(databaseUrl, { quick }));
  } catch (error) {
    if (!(error instanceof PeersNotInstalled)) throw error;
    console.error(error.message);
    return [];
  }
}

async function report(results: readonly BenchResult[], serverUrl: string, { quick, json }: Wanted): Promise<void> {
  const about = await surroundings(serverUrl);
  const text = JSON.stringify({ ...about, quick, results }, null, 2);
  if (typeof json === 'string') await writeFile(json, `${text}\n`);
  console.log(json === true ? text : table(results, about));
}

await new Command('bench')
  .description('Measures what the product does against the least that is needed for it, in the same run.')
  .argument('[names...]', `which: ${Object.keys(benches).join(', ')}; all but peers without a name`)
  .option('--quick', 'few rounds on little data', false)
  .option('--peers', 'beside them other event stores, installed into a temporary folder', false)
  .option('--json [file]', 'writes JSON to a file, or prints it')
  .action(async (names: string[], wanted: Wanted) => {
    process.exitCode = await run(names, wanted, process.env.MNEME_TEST_DATABASE_URL);
  })
  .parseAsync();
