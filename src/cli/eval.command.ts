import type { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import { askedQuestions } from '../evaluation/locomo-questions.js';
import { report, type EvaluationReport } from '../evaluation/locomo-report.js';
import type { Case } from '../evaluation/retrieval-metrics.js';
import { type LocomoConversation, readLocomo } from '../importing/locomo.js';
import { type Client } from './client.js';
import { CliFailure, exitCodes } from './failure.js';
import { type ImportedConversation, importConversation } from './locomo.js';
import { tableText } from './output.js';
import { patiently, pauseFor } from './patience.js';
import { type Progress, progressOf } from './progress-bar.js';
import { wholeNumber } from './recall.command.js';
import type { Shell } from './shell.js';

interface EvalOptions {
  readonly profile?: string;
  readonly limit: number;
  readonly questions?: number;
  readonly team: string;
}

/** Evaluations: how well recall finds what is known to answer a question. */
export function addEval(program: Command, shell: Shell): void {
  program
    .command('eval')
    .description('measure how well recall finds what answers a question')
    .command('locomo')
    .description('turn-level retrieval on a file of the LoCoMo benchmark; needs an operator’s key')
    .argument('<file>', 'file in the shape of the published one')
    .option('--profile <name>', 'ranking profile; the team’s when left out')
    .option('--limit <number>', 'results for each question, 1 to 50', wholeNumber, 10)
    .option('--questions <number>', 'ask the first so many questions only', wholeNumber)
    .option('--team <name>', 'what the names of the teams begin with', 'locomo')
    .action((file: string, options: EvalOptions) => evaluate(shell, file, options));
}

async function evaluate(shell: Shell, file: string, options: EvalOptions): Promise<void> {
  const work = planOf(await conversationsOf(file), options.questions);
  if (work.length === 0) throw new CliFailure(exitCodes.failed, 'no_questions', 'the file has no question that a turn answers');
  const measured = await shell.withServiceOrTemporary((operator) => measure(shell, operator, work, options));
  shell.output.result(measured, () => reportText(measured));
}

type Plan = readonly { readonly conversation: LocomoConversation; readonly questions: ReturnType<typeof askedQuestions> }[];

async function conversationsOf(file: string): Promise<LocomoConversation[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new CliFailure(exitCodes.failed, 'file_unreadable', `the file cannot be read (${reason})`, { field: 'file' });
  });
  return readLocomo(text);
}

/** Conversations that nothing is asked of are not imported. */
function planOf(conversations: readonly LocomoConversation[], most = Infinity): Plan {
  let left = most;
  return conversations.flatMap((conversation) => {
    const questions = askedQuestions(conversation).slice(0, left);
    left -= questions.length;
    return questions.length > 0 ? [{ conversation, questions }] : [];
  });
}

async function measure(shell: Shell, operator: Client, plan: Plan, options: EvalOptions): Promise<EvaluationReport> {
  const imported = new Map<string, ImportedConversation>();
  const bar = progressOf(shell.output, 'eval');
  try {
    for (const [index, { conversation }] of plan.entries()) {
      bar.show(index, plan.length, `importing ${conversation.id}`);
      const one = await importConversation(operator, conversation, { team: options.team, signal: shell.signal });
      imported.set(conversation.id, one);
      if (one.report.refused > 0)
        throw new CliFailure(
          exitCodes.failed,
          'import_refused',
          `${one.report.refused} turns of ${conversation.id} were refused`,
        );
    }
    for (const { access, position } of imported.values())
      await patiently(shell.signal, () => access.client.get('/v1/evidence', { limit: 1, min_position: position }));
    await embedded(operator, shell.signal, bar);
    return report(await ask(shell, plan, imported, options, bar), options.limit);
  } finally {
    bar.stop();
    for (const { access } of imported.values()) await access.close();
  }
}

/** Between two looks at the vectors, milliseconds. */
const lookMs = 500;
/** Looks in a row at which nothing became of them: the model is down. */
const mostIdleLooks = 600;

interface Readiness {
  readonly embeddings: { readonly pending: number; readonly failed: number } | null;
}

/** Waits until every text has its vector. @throws CliFailure when that does not go on */
async function embedded(client: Client, signal: AbortSignal, bar: Progress): Promise<void> {
  let fewest = Infinity;
  let most = 0;
  for (let idleLooks = 0; idleLooks < mostIdleLooks; idleLooks += 1) {
    const { body } = await patiently(signal, () => client.get<Readiness>('/health/ready'));
    const pending = body.embeddings?.pending;
    if (pending === 0) return;
    if (pending !== undefined && pending < fewest) {
      fewest = pending;
      idleLooks = 0;
    }
    most = Math.max(most, pending ?? 0);
    bar.show(most - (pending ?? most), most, `${pending ?? '?'} texts wait for their vectors`);
    await pauseFor(lookMs, signal);
  }
  throw new CliFailure(exitCodes.failed, 'embeddings_pending', `${fewest} texts get no vectors: see mneme doctor`);
}

interface Recalled {
  readonly results: readonly { readonly evidence_id: string }[];
}

async function ask(
  { signal }: Shell,
  plan: Plan,
  imported: ReadonlyMap<string, ImportedConversation>,
  { limit, profile }: EvalOptions,
  bar: Progress,
): Promise<Case[]> {
  const questions = plan.flatMap((one) => one.questions);
  const cases: Case[] = [];
  for (const { conversation, category, question, wanted } of questions) {
    const memory = imported.get(conversation);
    if (!memory) throw new Error('every conversation that is asked is imported');
    const { body } = await patiently(signal, () =>
      // Without a budget of bytes: the protocol counts turns.
      memory.access.client.post<Recalled>('/v1/recall', { question, limit, profile, byte_budget: 1_048_576 }),
    );
    const found = body.results.map(({ evidence_id }) => memory.turns.get(evidence_id) ?? evidence_id);
    cases.push({ group: conversation, category, wanted, found });
    bar.show(cases.length, questions.length, `${cases.length} of ${questions.length} questions`);
  }
  return cases;
}

function reportText(measured: EvaluationReport): string {
  const { limit, questions, mrr, by_category, by_conversation } = measured;
  const row = (name: string, one: { recall: number; mrr: number; questions: number }) => [
    name,
    one.recall.toFixed(3),
    one.mrr.toFixed(3),
    String(one.questions),
  ];
  return tableText(
    ['', `RECALL@${limit}`, 'MRR', 'QUESTIONS'],
    [
      row('all', { recall: measured[`recall_at_${limit}`] ?? 0, mrr, questions }),
      ...Object.entries(by_category).map(([name, one]) => row(name, one)),
      ...Object.entries(by_conversation).map(([name, one]) => row(name, one)),
    ],
    ['left', 'right', 'right', 'right'],
  );
}
