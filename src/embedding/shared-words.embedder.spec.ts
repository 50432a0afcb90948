import { cosine } from '../../test/support/cosine.js';
import { embedAll, embedOne } from './embedding-check.js';
import { SharedWordsEmbedder } from './shared-words.embedder.js';

const wait = { timeoutMs: 1_000 };

describe('the shared-word embedder', () => {
  const embedder = new SharedWordsEmbedder();
  const similarity = async (left: string, right: string) => {
    const [a, b] = await embedAll(embedder, [left, right], wait);
    return cosine(a, b);
  };

  it.each([
    ['How do I refund an order for a customer?', 0.8165],
    ['How do I refund an order I shipped?', 0.9037],
    ['how do i REFUND an order', 1],
  ])('finds "%s" similar to "How do I refund an order?" by %d', async (stored, expected) => {
    expect(await similarity('How do I refund an order?', stored)).toBeCloseTo(expected, 4);
  });

  it('gives the words of the golden values a dimension each', async () => {
    const words = 'how do i refund an order for a customer shipped'.split(' ');
    const vectors = await embedAll(embedder, words, wait);
    expect(new Set(vectors.map((vector) => vector.indexOf(1))).size).toBe(words.length);
  });

  it('finds nothing in common between texts without a common word', async () => {
    expect(await similarity('refund an order', 'reset my password')).toBe(0);
  });

  it.each(['???', ' ', '', '😀'])('gives the wordless text "%s" a vector that only the same text matches', async (text) => {
    expect(await similarity(text, text)).toBe(1);
    expect(await similarity(text, `${text}!`)).toBe(0);
  });

  it('counts a word as often as it occurs, in any script', async () => {
    expect(Math.max(...(await embedOne(embedder, 'да, да: да!', wait)))).toBe(3);
  });
});
