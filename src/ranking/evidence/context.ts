import { type ContextRule } from '../profiles/evidence-profile.js';
import { type CandidateFacts, type NeighbourOf } from './evidence-reads.js';

/** Candidates that stand next to each other in their group: for each, what stands at which offset. */
export type Adjacency = ReadonlyMap<string, ReadonlyMap<number, string>>;

/** Neighbours in both directions: who was found behind another has that one before it. */
export function adjacencyOf(neighbours: readonly NeighbourOf[]): Adjacency {
  const adjacency = new Map<string, Map<number, string>>();
  const link = (of: string, offset: number, id: string) => {
    const its = adjacency.get(of) ?? new Map<number, string>();
    adjacency.set(of, its.set(offset, id));
  };
  for (const { of, id, offset } of neighbours) {
    link(of, offset, id);
    link(id, -offset, of);
  }
  return adjacency;
}

/** What a candidate's surroundings add to it, in units of the scores that come in. */
export interface ContextShare {
  readonly adjacent: number;
  readonly second: number;
  readonly group: number;
  readonly total: number;
}

/**
 * The context of every candidate, from the scores that exact, text and vector gave:
 * `adjacent x better neighbour at 1 + second x better neighbour at 2 + group x mean of the group's best`.
 *
 * An answer often repeats no word of its question, and the next turn explains what this one calls "it". The score of the
 * evidence right before counts `answering` times when that asks a question. The group's mean divides by `groupBest` also
 * where fewer are candidates, so that one lucky hit is not a good group.
 */
export function contextShares(
  candidates: readonly CandidateFacts[],
  scores: ReadonlyMap<string, number>,
  adjacency: Adjacency,
  rule: ContextRule,
): Map<string, ContextShare> {
  const facts = new Map(candidates.map((candidate) => [candidate.id, candidate]));
  const means = groupMeans(candidates, scores, rule.groupBest);
  return new Map(
    candidates.map(({ id, group }) => {
      const at = (offset: number) => {
        const neighbour = facts.get(adjacency.get(id)?.get(offset) ?? '');
        const score = neighbour ? (scores.get(neighbour.id) ?? 0) : 0;
        return offset === -1 && neighbour?.asks ? score * rule.answering : score;
      };
      const adjacent = rule.adjacent * Math.max(at(-1), at(1));
      const second = rule.second * Math.max(at(-2), at(2));
      const inGroup = group === null ? 0 : rule.group * (means.get(group) ?? 0);
      return [id, { adjacent, second, group: inGroup, total: adjacent + second + inGroup }];
    }),
  );
}

function groupMeans(
  candidates: readonly CandidateFacts[],
  scores: ReadonlyMap<string, number>,
  best: number,
): Map<string, number> {
  const groups = new Map<string, number[]>();
  for (const { id, group } of candidates) {
    if (group === null) continue;
    const members = groups.get(group) ?? [];
    members.push(scores.get(id) ?? 0);
    groups.set(group, members);
  }
  return new Map(
    [...groups].map(([group, members]) => [
      group,
      members
        .sort((a, b) => b - a)
        .slice(0, best)
        .reduce((sum, score) => sum + score, 0) / best,
    ]),
  );
}
