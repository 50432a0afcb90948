/** U+0000, which PostgreSQL cannot store, and lone surrogates, which UTF-8 cannot write. */
const unstorable = /\0|\p{Surrogate}/u;

export const isStorable = (text: string): boolean => !unstorable.test(text);

/** Length in Unicode code points, so that an emoji counts once. */
export const codePoints = (text: string): number => text.length - (text.match(surrogatePairs)?.length ?? 0);

const surrogatePairs = /[\u{10000}-\u{10FFFF}]/gu;
