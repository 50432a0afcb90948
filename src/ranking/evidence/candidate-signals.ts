import { type ParsedQuery } from '../query/parse-query.js';
import { dayMs, temporalCloseness } from '../query/temporal-intent.js';
import { type Signals } from '../rerank/adjustments.js';
import { analyse, type Term } from '../text/analyse.js';
import { type CollectionStatistics, inverseDocumentFrequency } from './bm25.js';
import { type CandidateFacts } from './evidence-reads.js';

/** Code points of a text in which phrases are looked for. */
export const phraseContentLimit = 4_000;

/** Facts and source groups beyond this many count no more: a popular fact is not a relevant one. */
const mostSupport = 3;
/** Days in which newness halves, for questions about what holds now. */
const currentnessHalfLifeDays = 30;

export interface SignalContext {
  readonly query: ParsedQuery;
  readonly statistics: CollectionStatistics;
  /** When the newest of the candidates happened; undefined when none has a time. */
  readonly newest: number | undefined;
}

/** How strongly each adjustment applies to a candidate. */
export function candidateSignals(facts: CandidateFacts, context: SignalContext): Signals {
  const { query } = context;
  const wanted = query.anchors.ranking;
  return {
    exact_match: facts.isNamed ? 1 : 0,
    all_anchors: wanted.length > 0 && wanted.every((anchor) => facts.anchors.includes(anchor)) ? 1 : 0,
    phrase: phraseSignal(facts, context),
    fact_support: Math.min(facts.factSupport, mostSupport) / mostSupport,
    source_groups: Math.min(Math.max(0, facts.sourceGroups - 1), mostSupport) / mostSupport,
    currentness: query.currentness ? currentness(facts, context.newest) : 0,
    temporal_intent: temporal(facts, query),
    named_author: facts.author !== null && query.authors.includes(facts.author) ? 1 : 0,
    tells_time: query.asksTime && facts.tellsTime ? 1 : 0,
    only_asks: facts.asks ? 1 : 0,
  };
}

const happenedAt = ({ occurredAt, validFrom }: CandidateFacts): number | undefined => (occurredAt ?? validFrom)?.getTime();

/** When the newest candidate happened. */
export function newestOf(candidates: readonly CandidateFacts[]): number | undefined {
  const times = candidates.flatMap((facts) => happenedAt(facts) ?? []);
  return times.length === 0 ? undefined : times.reduce((newest, time) => Math.max(newest, time));
}

/** 1 for the newest candidate, half of it 30 days before that; 0 for what has no time. */
function currentness(facts: CandidateFacts, newest: number | undefined): number {
  const at = happenedAt(facts);
  return at === undefined || newest === undefined ? 0 : 0.5 ** ((newest - at) / dayMs / currentnessHalfLifeDays);
}

/** By the validity where there is one, else by the time it happened. */
function temporal({ occurredAt, validFrom, validTo }: CandidateFacts, { temporal: intents }: ParsedQuery): number {
  if (intents.length === 0) return 0;
  if (validFrom || validTo) return temporalCloseness(intents, validFrom?.getTime() ?? -Infinity, validTo?.getTime() ?? Infinity);
  return occurredAt ? temporalCloseness(intents, occurredAt.getTime(), occurredAt.getTime()) : 0;
}

/**
 * The share of quoted phrases that the text has, or of neighbouring words of the question that are neighbours in it too,
 * weighted by the rarer of the two; whichever is more. 0 to 1.
 */
function phraseSignal(facts: CandidateFacts, { query, statistics }: SignalContext): number {
  const pairs = query.pairs.filter((pair) => pair.every((term) => facts.frequencies.has(term)));
  // Most candidates have no two neighbouring words of the question, and reading a text costs more than all the rest.
  if (pairs.length === 0 && query.phrases.length === 0) return 0;
  const places = placesOf(analyse(facts.content, query.language).terms);
  const quoted = query.phrases.filter((phrase) => hasPhrase(places, phrase)).length;
  const weight = (its: readonly Pair[]) =>
    its.reduce((sum, pair) => sum + Math.min(...pair.map((term) => inverseDocumentFrequency(term, statistics))), 0);
  const whole = weight(query.pairs);
  const found = weight(pairs.filter(([first, second]) => areNeighbours(places, first, second)));
  return Math.max(query.phrases.length > 0 ? quoted / query.phrases.length : 0, whole > 0 ? found / whole : 0);
}

type Pair = readonly [string, string];
type Places = ReadonlyMap<string, ReadonlySet<number>>;

function placesOf(terms: readonly Term[]): Map<string, Set<number>> {
  const places = new Map<string, Set<number>>();
  for (const { text, position } of terms) {
    const its = places.get(text);
    if (its) its.add(position);
    else places.set(text, new Set([position]));
  }
  return places;
}

/** Whether the text has all the terms at the same distances from each other. */
function hasPhrase(places: Places, phrase: readonly Term[]): boolean {
  const [first] = phrase;
  if (!first) return false;
  return [...(places.get(first.text) ?? [])].some((start) =>
    phrase.every(({ text, position }) => places.get(text)?.has(start + position - first.position)),
  );
}

const areNeighbours = (places: Places, first: string, second: string) =>
  [...(places.get(first) ?? [])].some((place) => places.get(second)?.has(place + 1));
