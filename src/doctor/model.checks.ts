import type { Configuration } from '../config/configuration.js';
import { isAborted, withDeadline } from '../embedding/deadline.js';
import { embedOne } from '../embedding/embedding-check.js';
import type { EmbeddingGenerator } from '../embedding/embedding-generator.js';
import { EmbeddingUnavailable, exceptionType, isAdapterDefect, isDependencyUnavailable } from '../embedding/errors.js';
import type { EmbeddingFailureReason } from '../embedding/errors.js';
import { openEmbedder } from '../infrastructure.js';
import { OpenAiEvaluator } from '../judging/openai.evaluator.js';
import { OpenAiIntentExtractor } from '../judging/openai.intent-extractor.js';
import { findingsOf, type CheckName, type Finding } from './finding.js';

const probe = 'Does the memory work?';

const embeddingAdvice: Readonly<Record<EmbeddingFailureReason, string>> = {
  unreachable: 'start the endpoint, or correct MNEME_EMBEDDING_URL',
  timeout: 'look why it is slow, or raise MNEME_EMBEDDING_TIMEOUT_MS',
  rate_limited: 'wait, or ask the provider for a higher limit',
  server_error: 'look into the log of the endpoint',
  misconfigured: 'correct MNEME_EMBEDDING_URL, MNEME_EMBEDDING_MODEL and MNEME_EMBEDDING_API_KEY',
  refused: 'correct MNEME_EMBEDDING_MODEL: the endpoint does not take the request',
  malformed_answer: 'correct MNEME_EMBEDDING_URL: what answers there is no OpenAI-compatible endpoint',
  wrong_dimensions: 'set MNEME_EMBEDDING_DIMENSIONS to what the model gives',
  not_finite: 'use another model: its vectors cannot be compared',
  zero_norm: 'use another model: its vectors cannot be compared',
  adapter_error: 'reinstall the package: the model inside it does not run',
  no_data_key: 'see the finding about encryption',
};

/** Loads the configured embedder, and asks it for one vector. */
export async function checkEmbedder({ embedding }: Configuration, signal: AbortSignal): Promise<Finding> {
  const embedder = openEmbedder(embedding);
  try {
    return await probeEmbedder(embedder, embedding.timeoutMs, signal);
  } finally {
    await embedder.close();
  }
}

export async function probeEmbedder(embedder: EmbeddingGenerator, timeoutMs: number, signal: AbortSignal): Promise<Finding> {
  const { ok, failed } = findingsOf('embedder');
  const { id, dimensions } = embedder.contract;
  const started = performance.now();
  try {
    await embedOne(embedder, probe, { timeoutMs, signal });
    return ok(`${id} gave a vector of ${dimensions} dimensions in ${Math.round(performance.now() - started)} ms`);
  } catch (error) {
    if (!(error instanceof EmbeddingUnavailable)) throw error;
    return failed(`${id} gives no vector (${error.description})`, embeddingAdvice[error.reason]);
  }
}

/** Those of the chat endpoints that are configured, asked about one made-up question. */
export async function checkJudges(configuration: Configuration, signal: AbortSignal): Promise<Finding[]> {
  const { intent, evaluator, procedures } = configuration;
  const findings: Finding[] = [];
  if (intent) {
    const wait = { timeoutMs: intent.timeoutMs, signal };
    const ask = (to: AbortSignal) => new OpenAiIntentExtractor(intent).extract(probe, to);
    findings.push(await asked('intent model', 'MNEME_INTENT', ask, wait));
  }
  if (evaluator) {
    const run = { question: probe, answer: 'It does.' };
    const wait = { timeoutMs: procedures.evaluationTimeoutMs, signal };
    const ask = (to: AbortSignal) => new OpenAiEvaluator(evaluator).judge(run, to);
    findings.push(await asked('evaluator', 'MNEME_EVALUATOR', ask, wait));
  }
  return findings;
}

async function asked(
  check: CheckName,
  settings: string,
  ask: (signal: AbortSignal) => Promise<unknown>,
  wait: { timeoutMs: number | undefined; signal: AbortSignal },
): Promise<Finding> {
  const { ok, failed } = findingsOf(check);
  const started = performance.now();
  try {
    await withDeadline(ask, wait);
    return ok(`it answered in ${Math.round(performance.now() - started)} ms`);
  } catch (error) {
    if (isAborted(error)) throw error;
    if (isAdapterDefect(error))
      return failed(`it refuses the request (${error.reason})`, `correct ${settings}_MODEL and ${settings}_API_KEY`);
    const detail = isDependencyUnavailable(error) ? error.detail : exceptionType(error);
    return failed(`it gives no usable answer (${detail ?? 'no detail'})`, `start the endpoint, or correct ${settings}_URL`);
  }
}
