import fc from 'fast-check';
import { EvidenceInMemory, type EvidenceItem } from '../../../test/support/evidence-memory.js';
import { BranchFailed } from '../profiles/degradation.js';
import { balancedProfile, type EvidenceProfile, evidenceProfile } from '../profiles/evidence-profile.js';
import { cut } from './cut.js';
import { type EvidenceReads } from './evidence-reads.js';
import { type EvidenceRequest } from './evidence-request.js';
import { rankEvidence } from './rank-evidence.js';

const now = new Date('2026-03-18T12:00:00Z');
const item = (id: string, content: string, more: Partial<EvidenceItem> = {}): EvidenceItem => ({ id, content, ...more });
const talk = (...lines: string[]): EvidenceItem[] =>
  lines.map((line, sequence) => {
    const [author = '', content = ''] = line.split(': ');
    return item(`t${sequence}`, content, { author, group: 'talk', sequence });
  });

/** Vectors of two dimensions: how much a text is about the one topic there is. */
const vector = (share: number) => [share, Math.sqrt(1 - share ** 2)];
const asked = { contract: 'test', values: vector(1) };

type Failing = ConstructorParameters<typeof EvidenceInMemory>[1];
interface Ask extends Partial<EvidenceRequest> {
  readonly profile?: EvidenceProfile;
  readonly failing?: NonNullable<Failing>['failing'];
}

async function rank(
  items: readonly EvidenceItem[],
  question: string,
  { profile = balancedProfile, failing = [], ...request }: Ask = {},
) {
  const reads = new EvidenceInMemory(items, { failing });
  const ranking = await rankEvidence(
    reads,
    { question, language: 'english', now, vector: undefined, limit: 10, ...request },
    profile,
  );
  return { ...ranking, reads, ids: ranking.ranked.map(({ id }) => id) };
}

const textOnly: EvidenceProfile = {
  ...balancedProfile,
  branches: { exact: 'required', text: 'required', vector: 'off', context: 'off' },
};

describe('ranked evidence', () => {
  it('is read in the stated order, one call after the other', async () => {
    const lines = talk('Anna: we planted apple trees', 'Ben: when?', 'Anna: in spring');
    const items = lines.map((one, index) => ({ ...one, ...(index === 0 && { vector: vector(0.5) }) }));
    const { reads } = await rank(items, 'What did Anna say about apple trees?', { vector: asked });
    expect(reads.calls).toEqual([
      'authorsNamed',
      'exact',
      'statistics',
      'postings',
      'nearest',
      'nearest',
      'describe',
      'neighbours',
      'describe',
    ]);
  });

  it('answers a question as an OR of its words', async () => {
    const items = [item('a', 'the orchard needs water'), item('b', 'ripe apples'), item('c', 'nothing of the kind')];
    expect((await rank(items, 'How many ripe apples grew in the orchard?', { profile: textOnly })).ids).toEqual(['b', 'a']);
  });

  it('is empty, and says so, when nothing matches', async () => {
    expect(await rank([item('a', 'apples')], 'pears', { profile: textOnly })).toMatchObject({
      ranked: [],
      empty: 'no_candidates',
    });
    expect(await rank([], 'pears')).toMatchObject({ ranked: [], empty: 'no_candidates' });
    expect(await rank([item('a', 'apples')], '???', { profile: textOnly })).toMatchObject({ ranked: [], empty: 'no_candidates' });
  });

  it('shares no more than the profile’s greatest score', async () => {
    const { ranked } = await rank([item('a', 'apples', { vector: vector(1) })], 'apples', { vector: asked });
    expect(ranked[0]?.relevance).toBeGreaterThan(0);
    expect(ranked[0]?.relevance).toBeLessThanOrEqual(1);
  });

  it('is the same in whatever order the store holds it', async () => {
    const items = [
      ...talk('Anna: apples and pears', 'Ben: which apples?', 'Anna: red apples', 'Ben: and pears?'),
      item('x', 'apples'),
      item('y', 'apples'),
    ];
    const expected = (await rank(items, 'Which apples did Anna like?')).ranked;
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(items, { minLength: items.length }), async (shuffled) => {
        expect((await rank(shuffled, 'Which apples did Anna like?')).ranked).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('of equal score is ordered by id', async () => {
    const items = [item('b', 'apples'), item('a', 'apples'), item('c', 'apples')];
    expect((await rank(items, 'apples')).ids).toEqual(['a', 'b', 'c']);
  });
});

describe('hard anchors', () => {
  const items = [
    item('both', 'PROJ-123 was fixed by PR #56'),
    item('one', 'PROJ-123 is about the login'),
    item('other', 'PR #56 was reviewed'),
    item('none', 'the login was fixed'),
  ];

  it('must all be in one candidate', async () => {
    expect((await rank(items, 'Did PR #56 fix PROJ-123?')).ids).toEqual(['both']);
    expect((await rank(items, 'Who reviewed PR #56?')).ids.sort()).toEqual(['both', 'other']);
  });

  it('that are split over several leave the answer empty, for that reason', async () => {
    expect(await rank(items.slice(1), 'Did PR #56 fix PROJ-123?')).toMatchObject({ ranked: [], empty: 'hard_anchors' });
  });

  it('may stand in the metadata only, and decoys with one of the two fail', async () => {
    const runs = [
      item('right', 'run was green', { metadata: { commit: '2e4b0cc', pr_number: 56 } }),
      item('commit', 'run was green', { metadata: { commit: '2e4b0cc', pr_number: 57 } }),
      item('pr', 'run was green', { metadata: { commit: '2e4b0cd', pr_number: 56 } }),
    ];
    expect((await rank(runs, 'Was the run of 2e4b0cc in PR #56 green?')).ids).toEqual(['right']);
  });

  it('bind neighbours too', async () => {
    const group = talk('Anna: PROJ-123 is broken', 'Ben: the login again', 'Anna: yes');
    expect((await rank(group, 'What about PROJ-123?')).ids).toEqual(['t0']);
  });

  it('are held against a store that forgets them', async () => {
    const store = new EvidenceInMemory(items);
    const forgetful = new Proxy<EvidenceReads>(store, {
      get: (target, name: keyof EvidenceReads) =>
        name === 'postings'
          ? (plan: Parameters<EvidenceReads['postings']>[0]) => target.postings(plan, { anchors: [] })
          : (target[name].bind(target) as unknown),
    });
    const request = { question: 'Was PR #56 fixed?', language: 'english', now, vector: undefined, limit: 10 };
    const { ranked, dropped } = await rankEvidence(forgetful, request, balancedProfile);
    expect(ranked.map(({ id }) => id).sort()).toEqual(['both', 'other']);
    expect(dropped).toEqual([{ id: 'none', reason: 'hard_anchors' }]);
  });

  it('do not arise from ordinary words', async () => {
    expect((await rank([item('a', 'the wall was painted over')], 'Was the defaced wall painted?')).ids).toEqual(['a']);
  });
});

describe('exact matches', () => {
  it.each([
    ['id', '0d9c1a52-4a7e-4a8b-9d1c-3b1f6f0c7a11', {}],
    ['external id', 'invoice-991', { externalId: 'invoice-991' }],
    ['source key', 'handbook/travel', { sourceKey: 'handbook/travel' }],
  ])('by %s come first', async (_, name, more) => {
    const id = 'externalId' in more || 'sourceKey' in more ? 'wanted' : name;
    const items = [item('a', `somebody mentions ${name}`), item(id, 'quite another text', more)];
    expect((await rank(items, name, { profile: textOnly })).ids[0]).toBe(id);
  });

  it('are named in the explanation', async () => {
    const { ranked } = await rank([item('a', 'text', { externalId: 'invoice-991' })], 'What is invoice-991?');
    expect(ranked[0]?.branches).toContainEqual({ branch: 'exact', rank: 1, score: 1 });
    expect(ranked[0]?.adjustments).toContainEqual({ name: 'exact_match', factor: 1.5 });
  });
});

describe('the context of hits', () => {
  it('brings the answer that shares no word with the question', async () => {
    const { ids, ranked } = await rank(
      talk('Anna: Where did you plant the apple trees?', 'Ben: Behind the old mill.', 'Anna: Nice.'),
      'Where are the apple trees?',
    );
    expect(ids.slice(0, 2)).toEqual(['t0', 't1']);
    expect(ranked[1]?.branches.map(({ branch }) => branch)).toEqual(['context']);
    expect(ranked[1]?.context?.adjacent).toBeGreaterThan(0);
  });

  it('reaches two steps, not three, and not into another group', async () => {
    const items = [
      ...talk('Anna: apple trees', 'Ben: yes', 'Anna: fine', 'Ben: done'),
      item('x', 'yes', { group: 'other', sequence: 1 }),
    ];
    expect((await rank(items, 'apple trees')).ids.sort()).toEqual(['t0', 't1', 't2']);
  });

  it('never comes from, over, or to what is not eligible', async () => {
    const lines = talk('Ben: done', 'Anna: apple trees', 'Ben: yes', 'Anna: fine');
    const without = (id: string) => lines.map((one) => ({ ...one, eligible: one.id !== id }));
    expect((await rank(without('t1'), 'apple trees')).ids).toEqual([]);
    expect((await rank(without('t2'), 'apple trees')).ids.sort()).toEqual(['t0', 't1', 't3']);
  });

  it('is left out by the plain profile', async () => {
    const lines = talk('Anna: Where are the apple trees?', 'Ben: Behind the old mill.');
    expect((await rank(lines, 'apple trees', { profile: evidenceProfile })).ids).toEqual(['t0']);
  });

  it('raises what a named author said', async () => {
    const items = [item('a', 'apples are fine', { author: 'Ben' }), item('b', 'apples are fine', { author: 'Anna' })];
    const { ids, ranked } = await rank(items, 'What did Anna say about apples?');
    expect(ids).toEqual(['b', 'a']);
    expect(ranked[0]?.adjustments).toContainEqual({ name: 'named_author', factor: 1.5 });
  });

  it('finds what a named author said though others fill the pool', async () => {
    const crowd = Array.from({ length: 80 }, (_, index) => item(`c${index}`, 'apples', { author: 'Ben', vector: vector(0.9) }));
    const quiet = item('z', 'golden fruit', { author: 'Anna', vector: vector(0.6) });
    expect((await rank([...crowd, quiet], 'What did Anna say about apples?', { vector: asked })).ids).toContain('z');
  });

  it('finds what happened at the asked time though other times fill the pool', async () => {
    const crowd = Array.from({ length: 80 }, (_, index) =>
      item(`c${index}`, 'apples', { occurredAt: new Date('2020-01-01'), vector: vector(0.9) }),
    );
    const then = item('z', 'golden fruit', { occurredAt: new Date('2023-06-05'), vector: vector(0.6) });
    expect((await rank([...crowd, then], 'What about apples in June 2023?', { vector: asked })).ids).toContain('z');
  });
});

describe('adjustments', () => {
  const named = (items: EvidenceItem[], question: string) =>
    rank(items, question).then(
      ({ ranked }) => new Map(ranked.map(({ id, adjustments }) => [id, adjustments.map(({ name }) => name)])),
    );

  it('raise two neighbouring words of the question, and quoted phrases', async () => {
    const items = [item('a', 'the apple tree by the red barn'), item('b', 'the tree and an apple, a barn that is red')];
    const names = await named(items, 'the apple tree');
    expect([names.get('a'), names.get('b')].map((its) => its?.includes('phrase'))).toEqual([true, false]);
    const quoted = await named(items, 'Where is "red barn"?');
    expect([quoted.get('a'), quoted.get('b')].map((its) => its?.includes('phrase'))).toEqual([true, false]);
  });

  it('raise the newest only when the question wants what holds now', async () => {
    const items = [
      item('old', 'the price is high', { occurredAt: new Date('2024-01-01') }),
      item('new', 'the price is high', { occurredAt: new Date('2026-01-01') }),
    ];
    expect((await rank(items, 'What is the current price?')).ids).toEqual(['new', 'old']);
    expect((await named(items, 'What is the price?')).get('new')).not.toContain('currentness');
  });

  it('raise what happened or held at the asked time', async () => {
    const items = [
      item('a', 'they planted apple trees', { occurredAt: new Date('2022-06-03') }),
      item('b', 'they planted apple trees', { occurredAt: new Date('2023-06-03') }),
      item('c', 'they planted apple trees', { validFrom: new Date('2023-01-01'), validTo: new Date('2023-12-01') }),
      item('d', 'they planted apple trees'),
    ];
    expect((await rank(items, 'Where did they plant apple trees in June 2023?')).ids).toEqual(['b', 'c', 'a', 'd']);
  });

  it('raise supported evidence a little, and never make irrelevant evidence a result', async () => {
    const items = [
      item('a', 'apples are ripe'),
      item('b', 'apples are ripe', { factSupport: 9, sourceGroups: 9 }),
      item('c', 'quite something else', { factSupport: 99, sourceGroups: 99 }),
    ];
    const { ids, ranked } = await rank(items, 'ripe apples', { profile: textOnly });
    expect(ids).toEqual(['b', 'a']);
    expect(ranked[0]?.adjustments.filter(({ name }) => /fact|source/.test(name))).toEqual([
      { name: 'fact_support', factor: 1.1 },
      { name: 'source_groups', factor: 1.1 },
    ]);
  });

  it('cannot lift a well supported text over a direct answer', async () => {
    const items = [
      item('direct', 'the red apples are ripe behind the mill'),
      item('weak', 'the mill is old', { factSupport: 9, sourceGroups: 9 }),
    ];
    expect((await rank(items, 'Are the red apples ripe behind the mill?', { profile: textOnly })).ids).toEqual([
      'direct',
      'weak',
    ]);
  });

  it('hold back a text that only asks', async () => {
    const items = [item('ask', 'Are the apples ripe now?'), item('tell', 'The apples are ripe now.')];
    expect((await rank(items, 'ripe apples')).ids).toEqual(['tell', 'ask']);
  });
});

describe('what the caller knows', () => {
  const items = Array.from({ length: 150 }, (_, index) =>
    item(`c${String(index).padStart(3, '0')}`, `apples ${'and more '.repeat(index)}`),
  );

  it('takes no place, and the order of the rest stays', async () => {
    const all = await rank(items, 'apples');
    const known = new Set(all.ids.slice(0, 60));
    const next = await rank(items, 'apples', { knownCount: known.size });
    const { selected } = cut(next.ranked, { limit: 10, byteBudget: 32_768, known });
    expect(all.ids).toHaveLength(60);
    expect(next.ids.slice(0, 60)).toEqual(all.ids);
    expect(selected).toHaveLength(10);
    expect(selected.map(({ id }) => id)).toEqual(next.ids.slice(60, 70));
  });
});

describe('branches that fail', () => {
  const items = [item('a', 'apples', { vector: vector(0.9) }), item('b', 'golden fruit', { vector: vector(0.8) })];

  it('are noted when they are optional, and the rest answers', async () => {
    const { ids, degraded } = await rank(items, 'apples', { vector: asked, failing: ['nearest'] });
    expect(ids).toEqual(['a']);
    expect(degraded).toEqual([{ branch: 'vector', cause: new Error('nearest fails') }]);
  });

  it('are noted when the question has no vector', async () => {
    const { degraded } = await rank(items, 'apples');
    expect(degraded.map(({ branch }) => branch)).toEqual(['vector']);
  });

  it.each([
    ['authorsNamed', 'context'],
    ['neighbours', 'context'],
  ] as const)('of context are noted: %s', async (method, branch) => {
    const { ids, degraded } = await rank(items, 'apples', { vector: asked, failing: [method] });
    expect(ids).toContain('a');
    expect(degraded.map((one) => one.branch)).toEqual([branch]);
  });

  it.each([
    ['exact', 'exact', 'issue-1'],
    ['statistics', 'text', 'apples'],
    ['postings', 'text', 'apples'],
  ] as const)('fail the recall when they are required: %s', async (method, branch, question) => {
    const failed = rank(items, question, { failing: [method] });
    await expect(failed).rejects.toBeInstanceOf(BranchFailed);
    await expect(failed).rejects.toMatchObject({ code: 'branch_failed', branch });
  });

  it('fail the recall when the vector is required and there is none', async () => {
    const profile: EvidenceProfile = { ...balancedProfile, branches: { ...balancedProfile.branches, vector: 'required' } };
    await expect(rank(items, 'apples', { profile })).rejects.toMatchObject({ branch: 'vector' });
  });

  it('are not asked at all where the profile does without them', async () => {
    const { reads, degraded } = await rank(items, 'apples', {
      profile: textOnly,
      vector: asked,
      failing: ['nearest', 'neighbours'],
    });
    expect(reads.calls).not.toContain('nearest');
    expect(degraded).toEqual([]);
  });

  it('are not the facts themselves: without those there is nothing to say', async () => {
    await expect(rank(items, 'apples', { failing: ['describe'] })).rejects.toThrow('describe fails');
  });
});

describe('a pending vector', () => {
  it('keeps evidence from no other branch', async () => {
    const items = [item('pending', 'apples'), item('done', 'apples', { vector: vector(0.9) })];
    const { ids, ranked } = await rank(items, 'apples', { vector: asked });
    expect(ids.sort()).toEqual(['done', 'pending']);
    expect(ranked.find(({ id }) => id === 'pending')?.branches.map(({ branch }) => branch)).toEqual(['text']);
  });

  it('of another contract is not compared', async () => {
    const { ids } = await rank([item('a', 'apples', { vector: vector(0.9) })], 'pears', {
      vector: { contract: 'newer', values: vector(1) },
    });
    expect(ids).toEqual([]);
  });
});

describe('the explanation', () => {
  it('has the rank and score of every branch, the fused score, and every adjustment', async () => {
    const items = talk('Anna: ripe apples', 'Ben: which?').map((one) => ({ ...one, vector: vector(0.8) }));
    const { ranked, profile } = await rank(items, 'What did Anna say about ripe apples?', { vector: asked });
    expect(profile).toEqual({ name: 'balanced', version: balancedProfile.version });
    expect(ranked[0]).toMatchObject({
      id: 't0',
      branches: [
        { branch: 'text', rank: 1 },
        { branch: 'vector', rank: 1 },
        { branch: 'context', rank: expect.any(Number) as number },
      ],
      bestRank: 1,
    });
    const product = ranked[0]?.adjustments.reduce((whole, { factor }) => whole * factor, 1) ?? NaN;
    expect(ranked[0]?.score).toBeCloseTo((ranked[0]?.fused ?? NaN) * product, 12);
  });
});
