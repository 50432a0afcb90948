import { Optional } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { TeamSettings } from '../access/team-settings.js';
import { Configuration } from '../config/configuration.js';
import { embedOne } from '../embedding/embedding-check.js';
import { EmbeddingGenerator } from '../embedding/embedding-generator.js';
import { VectorCache } from '../embedding/vector-cache.js';
import { DataKeys } from '../encryption/data-keys.js';
import type { CommandContext } from '../event-log/command-context.js';
import type { RecordedEvent } from '../event-log/domain-event.js';
import { CommandRefused, executeCommand, VersionConflict } from '../event-log/execute.js';
import { naturalId } from '../event-log/ids.js';
import { canonicalJson, jsonValue } from '../event-log/json.js';
import { Streams } from '../event-log/streams.js';
import { askIntent } from '../judging/ask.js';
import { IntentExtractor } from '../judging/intent-extractor.js';
import {
  decideProcedure,
  type ParentFacts,
  type Procedure,
  type ProcedureContent,
  type ProcedureEvent,
  procedureOf,
  procedureStream,
} from './procedure.js';
import type { ReportedRun } from './run-judge.js';
import { type RunReceipt, runReceipt } from './run-receipt.js';
import { RunRecorder, type StandingRun } from './run-recorder.js';

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
    /** Of the version's stream, when it must be known already. */
    readonly expectedRevision: bigint | undefined,
    readonly signal: AbortSignal,
  ) {
    super();
  }
}

/** A version's stream, and what it says so far. */
interface Version {
  readonly procedure_id: string;
  readonly procedure: Procedure;
  readonly revision: bigint | 'no_stream';
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
    private readonly runs: RunRecorder,
    private readonly configuration: Configuration,
    @Optional() private readonly intents?: IntentExtractor,
  ) {}

  async execute({ context, input, expectedRevision, signal }: RememberProcedure): Promise<RememberReceipt> {
    const earlier = await this.runs.find(context);
    const version = await this.findVersion(context.team, input, earlier);
    const remember = await this.command(context.team, input, version);
    if (!earlier) refuseEarly(version, expectedRevision, decideProcedure(remember, version.procedure));

    // Before the judge, so that a remember which fails on the embedding never pays for a judgement.
    const wait = { timeoutMs: this.configuration.embedding.timeoutMs, signal };
    const vector = earlier ? undefined : await embedOne(this.embedder, input.question, wait);
    const content = await this.contentOf(input, version, signal);
    const standing = earlier ?? (await this.runs.record(context, version.procedure_id, input.run, input, signal));
    const stream = procedureStream(context.team, version.procedure_id);
    await executeCommand<ProcedureEvent>(this.streams, {
      stream,
      context,
      decide: (events) => decideProcedure({ ...remember, content, runStands: true }, procedureOf(events)),
    });
    if (vector) await this.vectors.remember({ team: context.team, memoryId: version.procedure_id, text: input.question, vector });
    return receiptOf(standing, (await this.streams.load<ProcedureEvent>(stream)).events, context.commandId);
  }

  /** The version's id follows from what it is, so two equal commands meet in one stream; an erased id is never used again. */
  private async findVersion(team: string, input: RememberInput, earlier: StandingRun | undefined): Promise<Version> {
    const secret = await this.keys.derived({ team, owner: team }, 'identity');
    const graph = canonicalJson(jsonValue('ProcedureRemembered', input.graph));
    const naturalKey = ['procedure', input.scope, input.question, input.version, graph];
    for (let generation = 0; ; generation += 1) {
      const procedure_id = naturalId(secret, naturalKey, generation);
      const { events, revision } = await this.streams.load<ProcedureEvent>(procedureStream(team, procedure_id));
      const procedure = procedureOf(events);
      if (earlier ? earlier.run.procedure_id === procedure_id : procedure.status !== 'erased')
        return { procedure_id, procedure, revision };
      if (procedure.status !== 'erased') throw new CommandRefused('idempotency_key_reused');
    }
  }

  private async command(team: string, input: RememberInput, { procedure_id }: Version) {
    const review = input.review || (await this.teamSettings.of(team)).review;
    const { scope, question, graph, version, intent = null } = input;
    const content = { scope, question, intent, graph, version };
    return {
      type: 'Remember',
      procedure_id,
      content,
      review,
      parent: await this.parentFacts(team, input.parentId),
      runStands: false,
    } as const;
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
}

function refuseEarly(
  { revision }: Version,
  expectedRevision: bigint | undefined,
  decision: ReturnType<typeof decideProcedure>,
): void {
  if (expectedRevision !== undefined && revision !== expectedRevision) throw new VersionConflict(revision);
  if ('refused' in decision) throw new CommandRefused(decision.refused, decision.field);
}

/** From the log alone, up to where the command stands in it: a repetition gets the same one, whatever has happened since. */
function receiptOf(
  { run, position }: StandingRun,
  events: readonly RecordedEvent<ProcedureEvent>[],
  commandId: string,
): RememberReceipt {
  const created = events.find(({ metadata, data }) => data.type === 'ProcedureRemembered' && metadata.causationId === commandId);
  const before = events.filter((event) => event.position < position);
  // Another command may have made the version between this one's run and now.
  const known = created ? [created] : before.length > 0 ? before : events.slice(0, 1);
  const last = known.at(-1);
  return {
    ...runReceipt(run),
    created: created !== undefined,
    status: procedureOf(known).status,
    revision: last?.revision ?? 'no_stream',
    position: last && last.position > position ? last.position : position,
  };
}
