import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ProjectionStatus } from '../../projections/engine/status.js';
import type { EmbeddingObserver } from '../embedding/document-filler.js';
import type { EmbeddingStatus } from '../embedding/embedding-worker.js';
import type { ReactorStatus } from '../reactors/status.js';
import { inTime } from '../timer.js';
import { ReactorMetrics } from './reactor-metrics.js';

/** What is read at the moment of a scrape. Each may fail: a scrape tells what can be told. */
export interface MetricSources {
  projections(): Promise<readonly ProjectionStatus[]>;
  reactors(): Promise<readonly ReactorStatus[]>;
  embeddings(): Promise<EmbeddingStatus>;
  /** Resolves when the event log answers. */
  log(): Promise<unknown>;
}

/** Seconds; an append to a nearby log takes some milliseconds, one that outlives the last bucket is an outage. */
const appendBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Zero has a bucket of its own: recalls that find nothing, or lose everything to the cut-off, are what one looks for. */
const recallBuckets = [0, 1, 2, 3, 5, 10, 20, 50, 100, 200];
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** One question takes a local model about 10 ms; a batch of long texts takes a slow endpoint a minute. */
const modelBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Longest wait for one source of a scrape, milliseconds: Prometheus gives a scrape ten seconds. */
const sourceTimeoutMs = 3_000;

/** The product's metrics in Prometheus' terms. No label ever holds an id, a path or anything a client sent. */
export class Metrics {
  private readonly registry = new Registry();

  readonly requests = new Histogram({
    name: 'mneme_http_request_duration_seconds',
    help: 'Time to answer a request, by route template.',
    labelNames: ['method', 'route', 'status'],
    buckets: requestBuckets,
    registers: [this.registry],
  });

  readonly appends = new Histogram({
    name: 'mneme_event_log_append_duration_seconds',
    help: 'Time until an append was answered, by outcome: appended, appended_many, or the code of the error.',
    labelNames: ['outcome'],
    buckets: appendBuckets,
    registers: [this.registry],
  });

  readonly recallCandidates = new Histogram({
    name: 'mneme_recall_candidates',
    help: 'Candidates a recall found before its cut-off.',
    labelNames: ['recall'],
    buckets: recallBuckets,
    registers: [this.registry],
  });

  readonly recallReturned = new Histogram({
    name: 'mneme_recall_returned',
    help: 'Results a recall returned.',
    labelNames: ['recall'],
    buckets: recallBuckets,
    registers: [this.registry],
  });

  readonly recallDegraded = new Counter({
    name: 'mneme_recall_degraded_total',
    help: 'Recalls answered without a branch that failed and is optional, by branch.',
    labelNames: ['recall', 'branch'],
    registers: [this.registry],
  });

  readonly logErrors = new Counter({
    name: 'mneme_event_log_errors_total',
    help: 'Reads, appends and subscriptions that failed, by operation and code.',
    labelNames: ['operation', 'code'],
    registers: [this.registry],
  });

  readonly embeddingCalls = new Histogram({
    name: 'mneme_embedding_model_duration_seconds',
    help: 'Time of one call to the embedding model, for requests and for stored documents, by outcome: embedded, cancelled, or why it failed.',
    labelNames: ['outcome'],
    buckets: modelBuckets,
    registers: [this.registry],
  });

  private readonly embedded = new Counter({
    name: 'mneme_embeddings_filled_total',
    help: 'Documents that this process gave a vector, by where it came from: model or cache.',
    labelNames: ['source'],
    registers: [this.registry],
  });

  private readonly embeddingFailures = new Counter({
    name: 'mneme_embeddings_failures_total',
    help: 'Attempts of this process that failed for the document itself, by reason.',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  /** For the embedding worker. */
  readonly embeddings: EmbeddingObserver = {
    filled: (documents, source) => this.embedded.inc({ source }, documents),
    failed: (reason) => this.embeddingFailures.inc({ reason }),
  };

  readonly rateLimited = new Counter({
    name: 'mneme_rate_limited_total',
    help: 'Requests refused with 429, by limit: reads, writes, expensive, anonymous.',
    labelNames: ['limit'],
    registers: [this.registry],
  });

  readonly reactors = new ReactorMetrics(this.registry);

  private readonly logUp = this.gauge('mneme_event_log_up', 'Whether the event log answers: 1 or 0.');
  private readonly position = this.gauge('mneme_projection_position', 'Last position in the read model.', ['projection']);
  private readonly lagPositions = this.gauge('mneme_projection_lag_positions', 'Positions behind the head.', ['projection']);
  private readonly lagSeconds = this.gauge('mneme_projection_lag_seconds', 'Age of the oldest event not applied.', [
    'projection',
  ]);
  private readonly rate = this.gauge('mneme_projection_events_per_second', 'Events applied a second.', ['projection']);
  private readonly stopped = this.gauge('mneme_projection_stopped', 'Whether it stopped at an event: 1 or 0.', ['projection']);
  private readonly pending = this.gauge('mneme_embeddings_pending', 'Documents without a vector of the active contract.');
  private readonly failed = this.gauge('mneme_embeddings_failed', 'Those of them that failed and wait for a retry, by reason.', [
    'reason',
  ]);
  private readonly modelUp = this.gauge(
    'mneme_embeddings_model_up',
    'Whether the worker of this process found the model working: 1 or 0.',
  );
  private readonly oldest = this.gauge(
    'mneme_embeddings_oldest_pending_seconds',
    'Age of the oldest of them; 0 when there is none.',
  );

  constructor(private readonly sources: MetricSources) {}

  readonly contentType = this.registry.contentType;

  /** The text that Prometheus scrapes. */
  async scrape(): Promise<string> {
    const [log, projections, reactors, embeddings] = await Promise.all([
      answerOf(this.sources.log().then(() => true)),
      answerOf(this.sources.projections()),
      answerOf(this.sources.reactors()),
      answerOf(this.sources.embeddings()),
    ]);
    this.logUp.set(log === undefined ? 0 : 1);
    for (const status of projections ?? []) this.show(status);
    for (const status of reactors ?? []) this.reactors.show(status);
    if (embeddings) this.showEmbeddings(embeddings);
    return this.registry.metrics();
  }

  private show({ name: projection, state, position, lag, rate }: ProjectionStatus): void {
    this.position.set({ projection }, Number(position));
    this.lagPositions.set({ projection }, Number(lag.positions));
    this.lagSeconds.set({ projection }, lag.seconds);
    this.rate.set({ projection }, rate);
    this.stopped.set({ projection }, state === 'stopped' ? 1 : 0);
  }

  private showEmbeddings({ pending, failures, oldestPendingSeconds, outage }: EmbeddingStatus): void {
    this.pending.set(pending);
    this.failed.reset(); // a reason that is gone must not stay at its last number
    for (const [reason, count] of Object.entries(failures)) this.failed.set({ reason }, count);
    this.modelUp.set(outage ? 0 : 1);
    this.oldest.set(oldestPendingSeconds ?? 0);
  }

  private gauge<Label extends string>(name: string, help: string, labelNames: Label[] = []): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}

/** Undefined when it fails or takes too long. */
const answerOf = <T>(source: Promise<T>): Promise<T | undefined> =>
  inTime(source, sourceTimeoutMs).then(
    (answer) => (answer === 'late' ? undefined : answer),
    () => undefined,
  );
