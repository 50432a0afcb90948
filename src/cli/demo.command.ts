import type { Command } from 'commander';
import { readConfiguration } from '../config/configuration.js';
import { Client } from './client.js';
import { newAgentKey, play, type Played } from './demo/play.js';
import { askedQuestion, decimals, differences, expectedRanking, type RankedRow } from './demo/story.js';
import { timelineText } from './demo/timeline.js';
import { CliFailure, exitCodes } from './failure.js';
import { tableText } from './output.js';
import type { Shell } from './shell.js';
import { inTemporaryFolder } from './temporary-folder.js';

/** Shows what Mneme does, on a service of its own that leaves nothing behind. */
export function addDemo(program: Command, shell: Shell): void {
  program
    .command('demo')
    .description('remember, recall and trace on a fresh service in a temporary folder, and check every number')
    .action(() => demo(shell));
}

async function demo(shell: Shell): Promise<void> {
  const { output } = shell;
  const started = performance.now();
  const tell = (line: string) => output.note(`${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s  ${line}`);
  tell('Starting a fresh service in a temporary folder');
  const played = await inTemporaryFolder((folder) =>
    shell.withOwnService(configurationIn(folder), async ({ url, localOperatorKey }) => {
      tell(`The service answers at ${url}`);
      const operator = new Client(url, localOperatorKey, shell.signal);
      const key = await newAgentKey(operator);
      tell('Created a team, a profile and a key');
      return play(operator.as(key), tell);
    }),
  );
  tell('Stopped the service and removed its folder');
  const wrong = differences(played.ranking);
  const { ranking, trace } = played;
  output.result({ ranking, trace, expected: expectedRanking, differences: wrong, ok: wrong.length === 0 }, () =>
    storyText(played),
  );
  if (wrong.length > 0) throw new CliFailure(exitCodes.failed, 'demo_differs', wrong.join('; '));
  output.note('All numbers are as expected.');
}

/** Nothing of the user's own settings: the demo must not touch their data, and must come out the same everywhere. */
const configurationIn = (folder: string) =>
  readConfiguration({
    MNEME_DATA: folder,
    MNEME_PORT: '0',
    MNEME_LOG_LEVEL: 'silent',
    MNEME_EMBEDDING_PROVIDER: 'shared_words',
  });

const storyText = ({ ranking, trace }: Played): string =>
  [`\n${askedQuestion}\n`, rankingTable(ranking), '', timelineText(trace)].join('\n');

export const rankingTable = (ranking: readonly RankedRow[]): string =>
  tableText(
    ['PROCEDURE', 'SIMILARITY', 'SUCCESS RATE', 'FRESHNESS', 'TOTAL'],
    ranking.map(({ title, similarity, success_rate, freshness, total }) => [
      title,
      ...[similarity, success_rate, freshness, total].map(decimals),
    ]),
    ['left', 'right', 'right', 'right', 'right'],
  );
