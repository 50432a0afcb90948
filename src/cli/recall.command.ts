import { type Command, InvalidArgumentError } from 'commander';
import { printable } from './output.js';
import type { Shell } from './shell.js';
import { inTeam } from './team-access.js';

interface RecallOptions {
  readonly scope?: string[];
  readonly limit?: number;
  readonly explain?: true;
  readonly knownAt?: string;
  readonly team?: string;
}

interface ExplainedResult {
  readonly evidence_id: string;
  readonly branches: readonly { readonly branch: string; readonly rank: number; readonly score: number }[];
  readonly fused: number;
  readonly final: number;
  readonly adjustments: readonly { readonly name: string; readonly factor: number }[];
}

interface Recalled {
  readonly results: readonly { readonly evidence_id: string; readonly context: string }[];
  readonly guidance: string | null;
  readonly empty_reason: string | null;
  readonly explanation?: { readonly results: readonly ExplainedResult[] };
}

/** Asks the memory of a team. */
export function addRecall(program: Command, shell: Shell): void {
  program
    .command('recall')
    .description('the evidence that helps most with a question, the best first')
    .argument('<question>', 'what to look for')
    .option('--scope <scope...>', 'parts of the team’s memory to search')
    .option('--limit <number>', 'most results, 1 to 50', wholeNumber)
    .option('--explain', 'add how each result came to its place')
    .option('--known-at <time>', 'what was known at that time, such as 2030-01-31T00:00:00Z')
    .option('--team <team>', 'id or name of the team; operators name it, the key of a team need not')
    .action((question: string, options: RecallOptions) => recall(shell, question, options));
}

/** The ranges are the service's to say. */
export function wholeNumber(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError('Say a number.');
  return Number(text);
}

async function recall(shell: Shell, question: string, options: RecallOptions): Promise<void> {
  const { scope: scopes, limit, explain, knownAt: known_at, team } = options;
  const { body } = await shell.withService((client) =>
    inTeam(client, { team, scopes: ['memory:read'] }, (member) =>
      member.post<Recalled>('/v1/recall', { question, scopes, limit, explain, known_at }),
    ),
  );
  shell.output.result(body, () => recallText(body));
}

/** Numbered contexts, and below each, where it is asked for, how it came to its place. */
export function recallText({ results, guidance, empty_reason, explanation }: Recalled): string {
  if (results.length === 0)
    return `Nothing found${empty_reason === null ? '' : ` (${empty_reason})`}${guidance === null ? '' : `. ${guidance}`}`;
  const accounts = new Map(explanation?.results.map((one) => [one.evidence_id, one]));
  const width = String(results.length).length;
  const indent = ' '.repeat(width + 2);
  return results
    .flatMap(({ evidence_id, context }, index) => {
      const account = accounts.get(evidence_id);
      return [
        `${String(index + 1).padStart(width)}. ${printable(context).replaceAll('\n', `\n${indent}`)}`,
        ...(account ? [`${indent}${accountText(account)}`] : []),
      ];
    })
    .join('\n');
}

const accountText = ({ evidence_id, final, fused, branches, adjustments }: ExplainedResult): string =>
  [
    `[${final.toFixed(4)} from ${fused.toFixed(4)}`,
    ...branches.map(({ branch, rank }) => `${branch} ${rank}`),
    ...adjustments.map(({ name, factor }) => `${name} x${factor.toFixed(2)}`),
    `${evidence_id}]`,
  ].join('; ');
