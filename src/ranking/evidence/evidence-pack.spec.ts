import { EvidenceInMemory } from '../../../test/support/evidence-memory.js';
import { packItems, packQuestions } from '../../../test/support/evidence-pack.js';
import { SharedWordsEmbedder } from '../../embedding/shared-words.embedder.js';
import { type Branch } from '../fusion/fusion.js';
import { balancedProfile, type BranchUse, type EvidenceProfile, evidenceProfile } from '../profiles/evidence-profile.js';
import { analyse } from '../text/analyse.js';
import { cut, defaultByteBudget } from './cut.js';
import { rankEvidence } from './rank-evidence.js';

interface Quality {
  /** Found answers as a share of all, averaged over questions. */
  readonly recall: number;
  /** Mean of 1 / rank of the first answer. */
  readonly mrr: number;
}

const limit = 5; // of 60: among the best ten, everything would find nearly everything
const contract = 'shared-words:1024';

/** Only these branches, as they rank by themselves. */
function only(...branches: Branch[]): EvidenceProfile {
  const uses = Object.fromEntries(
    (['exact', 'text', 'vector', 'context'] as const).map((branch): [Branch, BranchUse] => [
      branch,
      branches.includes(branch) ? 'required' : 'off',
    ]),
  ) as Record<Branch, BranchUse>;
  const gains = Object.fromEntries(Object.keys(balancedProfile.gains).map((name) => [name, 0])) as EvidenceProfile['gains'];
  return { ...balancedProfile, branches: uses, gains };
}

const equalRrf: EvidenceProfile = { ...only('text', 'vector'), fusion: { mode: 'rrf', k: 60, weights: { text: 1, vector: 1 } } };

describe('the pack', () => {
  const measured = new Map<string, Quality>();

  beforeAll(async () => {
    const embedder = new SharedWordsEmbedder();
    const { signal } = new AbortController();
    const vectors = await embedder.embed(
      packItems.map(({ content }) => content),
      signal,
    );
    const asked = await embedder.embed(
      packQuestions.map(({ question }) => question),
      signal,
    );
    const reads = new EvidenceInMemory(
      packItems.map((item, index) => ({ ...item, vector: vectors[index] ?? [] })),
      { contract },
    );

    async function measure(profile: EvidenceProfile): Promise<Quality> {
      let [recall, mrr] = [0, 0];
      for (const [index, { question, answers }] of packQuestions.entries()) {
        const request = {
          question,
          language: 'english',
          now: new Date('2025-01-10'),
          vector: { contract, values: asked[index] ?? [] },
          limit,
        };
        const { ranked } = await rankEvidence(reads, request, profile);
        const ids = cut(ranked, { limit, byteBudget: defaultByteBudget }).selected.map(({ id }) => id);
        const first = ids.findIndex((id) => answers.includes(id));
        recall += ids.filter((id) => answers.includes(id)).length / answers.length;
        mrr += first === -1 ? 0 : 1 / (first + 1);
      }
      return { recall: recall / packQuestions.length, mrr: mrr / packQuestions.length };
    }

    for (const [name, profile] of Object.entries({
      balanced: balancedProfile,
      evidence: evidenceProfile,
      text: only('text'),
      vector: only('vector'),
      equalRrf,
    }))
      measured.set(name, await measure(profile));
  });

  const quality = (name: string): Quality => measured.get(name) ?? { recall: NaN, mrr: NaN };

  it('is large enough to tell rankings apart', () => {
    expect(packItems).toHaveLength(60);
    expect(packQuestions).toHaveLength(25);
    const ids = new Set(packItems.map(({ id }) => id));
    expect(packQuestions.flatMap(({ answers }) => answers).filter((id) => !ids.has(id))).toEqual([]);
  });

  it.each(['text', 'vector'])('is answered by the default profile at least as well as by its branch %s alone', (branch) => {
    expect(quality('balanced').recall).toBeGreaterThanOrEqual(quality(branch).recall);
    expect(quality('balanced').mrr).toBeGreaterThanOrEqual(quality(branch).mrr);
  });

  it('is answered worse by reciprocal ranks of equal weight than by the default', () => {
    expect(quality('equalRrf').recall).toBeLessThan(quality('balanced').recall);
    expect(quality('equalRrf').mrr).toBeLessThan(quality('balanced').mrr);
  });

  it('is answered by the plain profile no worse than by its better branch', () => {
    expect(quality('evidence').recall).toBeGreaterThanOrEqual(Math.max(quality('text').recall, quality('vector').recall));
  });

  it('is answered as well as when this was written', () => {
    expect(quality('balanced').recall).toBeGreaterThanOrEqual(0.9);
    expect(quality('balanced').mrr).toBeGreaterThanOrEqual(0.7);
  });

  it('has hardly a text with all words of a question: a question is never an AND', () => {
    const texts = packItems.map(({ content }) => new Set(analyse(content, 'english').terms.map(({ text }) => text)));
    const found = packQuestions.filter(({ question }) => {
      const words = analyse(question, 'english').terms.map(({ text }) => text);
      return texts.some((text) => words.every((word) => text.has(word)));
    });
    expect(found.length / packQuestions.length).toBeLessThan(0.2);
  });
});
