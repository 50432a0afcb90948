import { Optional } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { TeamSettings } from '../access/team-settings.js';
import { Configuration } from '../config/configuration.js';
import { embedOne } from '../embedding/embedding-check.js';
import { EmbeddingGenerator } from '../embedding/embedding-generator.js';
import { VectorCache } from '../embedding/vector-cache.js';
import { DataKeys } from '../encryption/data-keys.js';
import type { CommandContext } from '../event-log/command-context.js';
import { CommandRefused, executeCommand } from '../event-log/execute.js';
import { deriveId, naturalId } from '../event-log/ids.js';
import { canonicalJson, jsonValue } from '../event-log/json.js';
import { type LoadedStream, Streams } from '../event-log/streams.js';
import { askIntent } from '../judging/ask.js';
import { IntentExtractor } from '../judging/intent-extractor.js';
import { type ExecutionEvent, executionStream } from './execution.js';
import {
  decideProcedure,
  evolveProcedure,
  noProcedure,
  type ParentFacts,
  type Procedure,
  type ProcedureCommand,
  type ProcedureContent,
  type ProcedureEvent,
  procedureOf,
  procedureStream,
} from './procedure.js';
import { type ReportedRun, RunJudge } from './run-judge.js';
import { runOf, type RunReceipt, runReceipt } from './run-receipt.js';

export interface RememberInput {
  readonly scope: string;
  readonly question: string;
  readonly intent: string | undefined;
  readonly graph: Readonly<Record<string, unknown>>;
  readonly version: string;
  readonly parentId: string | undefined;
  /** Asks for review; the team's setting may ask for it too. */
  readonly review: boolean;
  readonly run: ReportedRun;
}

export interface RememberReceipt extends RunReceipt {
  /** Whether this command made the version; false when it was known and got another run. */
  readonly created: boolean;
  readonly status: Procedure['status'];
  readonly revision: bigint | 'no_stream';
  readonly position: bigint;
}

export class RememberProcedure extends Command<RememberReceipt> {
  constructor(
    readonly context: CommandContext,
    readonly input: RememberInput,
    readonly signal: AbortSignal,
  ) {
    super();
  }
}

/** A version's stream, and what it says so far. */
interface Version {
  readonly procedure_id: string;
  readonly procedure: Procedure;
}

/**
 * Finds or makes a version and records one run of it.
 *
 * The run is appended first and stays invisible until its procedure exists, so a crash between the two appends shows
 * nothing, and the retry of the command, which derives the same ids, completes it.
 */
@CommandHandler(RememberProcedure)
export class RememberProcedureHandler implements ICommandHandler<RememberProcedure> {
  constructor(
    private readonly streams: Streams,
    private readonly keys: DataKeys,
    private readonly teamSettings: TeamSettings,
    private readonly embedder: EmbeddingGenerator,
    private readonly vectors: VectorCache,
    private readonly judge: RunJudge,
    private readonly configuration: Configuration,
    @Optional() private readonly intents?: IntentExtractor,
  ) {}

  async execute({ context, input, signal }: RememberProcedure): Promise<RememberReceipt> {
    const run = await this.streams.load<ExecutionEvent>(executionStream(context.team, deriveId(context.commandId, 'execution')));
    const version = await this.findVersion(context.team, input, run);
    const parent = await this.parentFacts(context.team, input.parentId);
    const review = input.review || (await this.teamSettings.of(context.team)).review;
    const remember = (content: ProcedureContent): ProcedureCommand => ({
      type: 'Remember',
      procedure_id: version.procedure_id,
      content,
      review,
      parent,
    });
    refuseEarly(decideProcedure(remember({ ...input, intent: input.intent ?? null }), version.procedure));

    // Before the judge, so that a remember which fails on the embedding never pays for a judgement.
    const wait = { timeoutMs: this.configuration.embedding.timeoutMs, signal };
    const vector = run.events.length === 0 ? await embedOne(this.embedder, input.question, wait) : undefined;
    const content = await this.contentOf(input, version, signal);
    const recorded = await this.recordRun(context, version.procedure_id, input, signal);
    const result = await executeCommand<ProcedureEvent>(this.streams, {
      stream: procedureStream(context.team, version.procedure_id),
      context,
      decide: (events) => decideProcedure(remember(content), procedureOf(events)),
    });
    if (vector) await this.vectors.remember({ team: context.team, memoryId: version.procedure_id, text: input.question, vector });
    const created = result.events.at(0);
    return {
      ...runReceipt(recorded.run),
      created: created !== undefined,
      status: created ? evolveProcedure(noProcedure, created).status : version.procedure.status,
      revision: result.revision,
      position: result.position > recorded.position ? result.position : recorded.position,
    };
  }

  /** The version's id follows from what it is, so two equal commands meet in one stream; an erased id is never used again. */
  private async findVersion(team: string, input: RememberInput, run: LoadedStream<ExecutionEvent>): Promise<Version> {
    const secret = await this.keys.derived({ team, owner: team }, 'identity');
    const naturalKey = [
      'procedure',
      input.scope,
      input.question,
      input.version,
      canonicalJson(jsonValue('ProcedureRemembered', input.graph)),
    ];
    const earlier = runOf(run.events);
    for (let generation = 0; ; generation += 1) {
      const procedure_id = naturalId(secret, naturalKey, generation);
      const { events } = await this.streams.load<ProcedureEvent>(procedureStream(team, procedure_id));
      const procedure = procedureOf(events);
      if (earlier ? earlier.procedure_id === procedure_id : procedure.status !== 'erased') return { procedure_id, procedure };
      if (procedure.status !== 'erased') throw new CommandRefused('idempotency_key_reused');
    }
  }

  private async parentFacts(team: string, procedure_id: string | undefined): Promise<ParentFacts | null> {
    if (procedure_id === undefined) return null;
    const parent = await this.streams.load<ProcedureEvent>(procedureStream(team, procedure_id));
    return { procedure_id, procedure: procedureOf(parent.events), basis: `${parent.name}@${parent.revision}` };
  }

  /** An intent is asked for only where a new version needs one; an extractor that is down fails the call, so that no guess is stored. */
  private async contentOf(input: RememberInput, { procedure }: Version, signal: AbortSignal): Promise<ProcedureContent> {
    const { scope, question, graph, version } = input;
    const { intent: settings, procedures } = this.configuration;
    const needed = input.intent === undefined && procedure.status === 'none' && this.intents;
    const wait = { timeoutMs: settings?.timeoutMs, minConfidence: procedures.minIntentConfidence, signal };
    const intent = needed ? await askIntent(needed, question, wait) : input.intent;
    return { scope, question, intent: intent ?? null, graph, version };
  }

  private async recordRun(context: CommandContext, procedure_id: string, input: RememberInput, signal: AbortSignal) {
    const execution_id = deriveId(context.commandId, 'execution');
    const result = await executeCommand<ExecutionEvent>(this.streams, {
      stream: executionStream(context.team, execution_id),
      context,
      ...(input.run.occurredAt ? { occurredAt: input.run.occurredAt } : {}),
      decide: async () => [
        { type: 'ExecutionRecorded', execution_id, procedure_id, ...(await this.judge.judge(input.run, input, signal)) },
      ],
    });
    const [run] = result.events;
    if (run?.type !== 'ExecutionRecorded') throw new CommandRefused('idempotency_key_reused');
    return { run, position: result.position };
  }
}

function refuseEarly(decision: ReturnType<typeof decideProcedure>): void {
  if ('refused' in decision) throw new CommandRefused(decision.refused, decision.field);
}
