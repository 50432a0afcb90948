import fc from 'fast-check';
import type { Client } from './http.js';
import { EvidenceClient } from './evidence.js';
import type { TestTeam } from './service.js';

/** Something that happens to a team's evidence; numbers choose among what is there. */
export type EvidenceAction =
  | { readonly do: 'remember'; readonly text: number; readonly source: number; readonly revision: number; readonly by: number }
  | { readonly do: 'batch'; readonly texts: readonly number[] }
  | { readonly do: 'alias'; readonly which: number; readonly handle: number }
  | { readonly do: 'change'; readonly which: number; readonly change: string }
  | { readonly do: 'supersede'; readonly which: number; readonly by: number }
  | { readonly do: 'publish'; readonly source: number; readonly revision: number }
  | { readonly do: 'erase' | 'erase_source'; readonly which: number }
  | { readonly do: 'turn'; readonly which: number };

const few = fc.nat(3);
export const evidenceAction: fc.Arbitrary<EvidenceAction> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('remember' as const), text: fc.nat(5), source: few, revision: few, by: fc.nat(1) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('batch' as const), texts: fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('alias' as const), which: fc.nat(9), handle: few }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      which: fc.nat(9),
      change: fc.constantFrom('quarantine', 'release', 'announce-supersession', 'withdraw-supersession', 'retract'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('supersede' as const), which: fc.nat(9), by: fc.nat(9) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('publish' as const), source: few, revision: few }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('erase' as const, 'erase_source' as const), which: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('turn' as const), which: fc.nat(1) }) },
);

/** What there is after some actions. */
export interface EvidenceStory {
  readonly evidence: string[];
  readonly sources: string[];
  readonly erased: Set<string>;
  readonly erasedSources: Set<string>;
}

/** A team with two authors, one of whom comes and goes. */
export class EvidenceActors {
  private readonly inactive = new Set<string>();

  private constructor(
    private readonly administrator: Client,
    private readonly authors: readonly { readonly profile: string; readonly client: EvidenceClient }[],
    readonly story: EvidenceStory,
  ) {}

  static async of(team: TestTeam): Promise<EvidenceActors> {
    const second = await team.newProfile('Second');
    const authors = [
      { profile: team.profile, client: new EvidenceClient(team.client) },
      { profile: second, client: new EvidenceClient(await team.clientWith(['memory:write'], second)) },
    ];
    return new EvidenceActors(team.client, authors, { evidence: [], sources: [], erased: new Set(), erasedSources: new Set() });
  }

  /** @returns the position of what was written; undefined when nothing was */
  async act(action: EvidenceAction): Promise<string | undefined> {
    const { story, administrator } = this;
    const admin = new EvidenceClient(administrator);
    const chosen = (list: readonly string[], which: number) => list[which % Math.max(list.length, 1)] ?? '';
    const one = 'which' in action ? chosen(story.evidence, action.which) : '';
    switch (action.do) {
      case 'remember': {
        const author = this.authors[action.by];
        if (!author || this.inactive.has(author.profile)) return undefined;
        return this.remembered(await author.client.remember(bodyOf(action)));
      }
      case 'batch': {
        const answer = await admin.batch(action.texts.map((text) => bodyOf({ text, source: 0, revision: 0 })));
        for (const { evidence_id } of answer.body.items) if (evidence_id !== null) this.note(evidence_id);
        return answer.position;
      }
      case 'alias': {
        const body = { content: 'Text 0.', external_id: `handle-${action.handle}` };
        return this.remembered(await admin.remember(body));
      }
      case 'change':
        return one === '' ? undefined : (await admin.change(one, action.change, { reason: 'r' })).position;
      case 'supersede':
        return one === ''
          ? undefined
          : (await admin.change(one, 'supersede', { replacement_id: chosen(story.evidence, action.by) })).position;
      case 'publish': {
        const answer = await admin.publish(`source-${action.source}`, `r${action.revision}`);
        if (!story.sources.includes(answer.body.source_id)) story.sources.push(answer.body.source_id);
        return answer.position;
      }
      case 'erase':
        if (one === '') return undefined;
        story.erased.add(one);
        return (await admin.erase(one)).position;
      case 'erase_source': {
        const source = chosen(story.sources, action.which);
        if (source === '') return undefined;
        story.erasedSources.add(source);
        return (await administrator.delete(`/v1/sources/${source}`)).position;
      }
      case 'turn':
        return this.turn();
      default:
        return action satisfies never;
    }
  }

  private remembered(answer: { readonly body: { readonly evidence_id: string }; readonly position: string }): string {
    this.note(answer.body.evidence_id);
    return answer.position;
  }

  private note(id: string): void {
    if (!this.story.evidence.includes(id)) this.story.evidence.push(id);
  }

  /** The second author leaves, or comes back. */
  private async turn(): Promise<string> {
    const profile = this.authors[1]?.profile ?? '';
    const leaves = !this.inactive.delete(profile);
    if (leaves) this.inactive.add(profile);
    return (await this.administrator.post(`/v1/profiles/${profile}/${leaves ? 'deactivate' : 'reactivate'}`)).position;
  }
}

function bodyOf({ text, source, revision }: { text: number; source: number; revision: number }): object {
  return {
    content: `Text ${text}.`,
    ...(source > 0 && { source_key: `source-${source}` }),
    ...(source > 0 && revision > 0 && { source_revision: `r${revision}` }),
    ...(text === 1 && { valid_from: '2026-01-01T00:00:00Z', valid_to: '2026-06-01T12:00:00Z' }),
    ...(text === 2 && { valid_from: '2026-06-01T12:00:00Z' }),
    subjects: [`subject-${text}`],
    labels: ['x'],
  };
}
