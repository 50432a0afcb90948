/** Whose request a word came from: the two teams, or anybody else. */
export type Territory = 'a' | 'b' | 'n';

/** A word that occurs nowhere but in one request of the run: wherever it turns up, that request was quoted. */
export const canary = (territory: Territory, index: number): string => `zq${territory}${index}qz`;

const anyCanary = /zq([abn])\d+qz/g;

/** The territories of the canaries in a text. */
export const canariesIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(anyCanary)].map(([, territory = '']) => territory));
