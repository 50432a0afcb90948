import { Body, Controller, HttpCode, Post, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { EvidenceFilters } from '../../projections/evidence-search/evidence-scope.js';
import { PastReads } from '../http/as-of.js';
import { RequireScope, TeamActor } from '../http/authentication.js';
import { HttpProblem } from '../http/http-problem.js';
import { Operation } from '../http/openapi.js';
import { ReadsFrom } from '../http/read-models.js';
import { RequestSignal } from '../http/request-signal.js';
import { type Branch, branches } from '../ranking/fusion/fusion.js';
import { isBranchFailed } from '../ranking/profiles/degradation.js';
import { balancedProfile, builtInEvidenceProfiles, type EvidenceProfile } from '../ranking/profiles/evidence-profile.js';
import {
  answerCheckStatus,
  finaliseScores,
  isAnswerCheckProblem,
  type Layers,
  parseAnswerCheck,
  responseFields,
} from '../ranking/score-contract.js';
import { RecallEvidence, type RecallInput, type RecalledContexts } from './recall-evidence.handler.js';
import { type EvidenceFiltersRequest, RecallQuery, RecallRequest } from './recall-requests.js';
import { contextOf, explanationOf, RecallResponse, scoredContext } from './recall-responses.js';

const readModels = ['evidence', 'evidence_search', 'access'] as const;

@Controller('v1/recall')
@ApiTags('recall')
export class RecallController {
  constructor(
    private readonly queries: QueryBus,
    private readonly past: PastReads,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('memory:read')
  @ReadsFrom(...readModels)
  @Operation({
    id: 'recall_memory',
    summary: 'The evidence that helps most with a question',
    kind: 'read',
    returns: RecallResponse,
  })
  async recall(
    @TeamActor() { team, scopes }: TeamActor,
    @Body() body: RecallRequest,
    @Query() query: RecallQuery,
    @RequestSignal() signal: AbortSignal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const request = parseAnswerCheck(body.answer_check ?? query.answer_check);
    if (isAnswerCheckProblem(request))
      throw new HttpProblem(400, request.code, { field: 'answer_check', detail: request.message });
    const input = inputOf(body, profileOf(body.profile, scopes));
    const asOf = await this.past.resolve(
      { known_at: body.known_at ?? query.known_at, at_position: body.at_position ?? query.at_position },
      { team, projections: readModels, signal, elapsedMs: reply.elapsedTime },
    );
    const recalled = await this.queries.execute(new RecallEvidence(team, input, signal, asOf)).catch(branchProblem);
    const { results, ranking } = recalled;
    const resultCount = results.length;
    return {
      results: body.include.includes('scores')
        ? finaliseScores(results.map((result) => scoredContext(result, body.depth)))
        : results.map((result) => contextOf(result, body.depth)),
      discovery_paths: [],
      conflict_refs: [],
      related_hypotheses: [],
      guidance: guidanceOf(recalled),
      empty_reason: resultCount > 0 ? null : (ranking.empty ?? 'known'),
      recall_id: null,
      as_of: this.past.response(asOf),
      ...(body.explain && { explanation: explanationOf(recalled) }),
      ...responseFields({
        completed: true,
        resultCount,
        candidateCount: ranking.ranked.length,
        removedByFloor: 0,
        answerCheck: answerCheckStatus({ ...noAnswerCheck, request, resultCount }),
        layers: layersOf(body, recalled),
        channels: body.explain ? channelsOf(input.profile, recalled) : undefined,
      }),
    };
  }
}

function inputOf(body: RecallRequest, profile: EvidenceProfile): RecallInput {
  const { question, limit, byte_budget, max_tokens, filters, scopes } = body;
  return {
    question,
    limit,
    profile,
    depth: body.depth as RecallInput['depth'],
    byteBudget: max_tokens === undefined ? byte_budget : Math.min(byte_budget, max_tokens * bytesOfToken),
    known: [...new Set(body.known_evidence_ids)],
    validAt: dateOf(body.valid_at),
    filters: { scopes, ...filtersOf(filters) },
  };
}

function filtersOf(filters: EvidenceFiltersRequest | undefined): Omit<EvidenceFilters, 'scopes'> {
  if (!filters) return {};
  const { source_types: sourceTypes, occurred_from, occurred_to, ...same } = filters;
  return { ...same, sourceTypes, occurredFrom: dateOf(occurred_from), occurredTo: dateOf(occurred_to) };
}

const bytesOfToken = 4;

const dateOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));

/** The team's ranking decides; another one is for those who evaluate rankings. */
function profileOf(name: string | undefined, scopes: readonly string[]): EvidenceProfile {
  if (name === undefined) return balancedProfile;
  if (!scopes.includes('evaluate'))
    throw new HttpProblem(403, 'forbidden', { field: 'profile', extensions: { required_scopes: ['evaluate'] } });
  const profile = builtInEvidenceProfiles.find((one) => one.name === name);
  if (!profile)
    throw new HttpProblem(422, 'ranking_profile_unknown', {
      field: 'profile',
      detail: `The ranking profiles are: ${builtInEvidenceProfiles.map((one) => one.name).join(', ')}.`,
    });
  return profile;
}

/** @throws HttpProblem 503 `branch_failed` that names the branch, which is all a client may know; anything else as it came */
function branchProblem(error: unknown): never {
  if (!isBranchFailed(error)) throw error;
  throw new HttpProblem(503, 'branch_failed', {
    detail: `The branch ${error.branch} failed, and the ranking profile requires it.`,
    extensions: { branch: error.branch },
    headers: { 'retry-after': '1' },
  });
}

/** With `max_tokens` or a depth other than 1 the answer says how much of the memory it shows. */
function layersOf({ depth, max_tokens }: RecallRequest, { bytes, leftOut, trimmed }: RecalledContexts): Layers | undefined {
  if (depth === 1 && max_tokens === undefined) return undefined;
  return {
    depth: depth as Layers['depth'],
    max_tokens: max_tokens ?? null,
    tokens_used: Math.ceil(bytes / bytesOfToken),
    trimmed,
    left_out: leftOut,
  };
}

function channelsOf({ branches: uses }: EvidenceProfile, { degraded }: RecalledContexts) {
  const failed = new Set<Branch>(degraded.map(({ branch }) => branch));
  const stateOf = (branch: Branch) => (uses[branch] === 'off' ? 'off' : failed.has(branch) ? 'failed' : 'ok');
  return { status: Object.fromEntries(branches.map((branch) => [branch, stateOf(branch)])), incomplete: [...failed].sort() };
}

function guidanceOf({ ranking, results, dropped }: RecalledContexts): string | null {
  if (ranking.empty === 'hard_anchors')
    return 'Nothing in memory has every identifier of the question. Leave one out, or check its spelling.';
  if (results.length === 0) return null;
  return dropped.some(({ reason }) => reason === 'limit' || reason === 'byte_budget')
    ? 'There is more. Where a part is uncertain, ask for that part alone, and name what you have in known_evidence_ids.'
    : null;
}

/** No judge reads evidence yet: the check is off, whatever a caller asks. */
const noAnswerCheck = {
  configured: false,
  systemRecall: false,
  isQuestion: true,
  readsOtherProfile: false,
  otherProfileAllowed: false,
  memo: false,
  timeLeft: true,
  judge: 'ready',
} as const;
