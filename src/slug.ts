/** What every slug is, in words: in error messages, in the docs, and in what models are told. */
export const slugRule = '1 to 64 lower-case letters, digits or _ . - that begin and end with a letter or digit';

export const slugPattern = /^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?$/;

export const isSlug = (value: unknown): value is string => typeof value === 'string' && slugPattern.test(value);

/** The slug nearest to a text, or undefined when no letter or digit of it can be one. */
export function slugOf(text: string): string | undefined {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 64)
    .replace(/[^a-z0-9]+$/, '');
  return slug === '' ? undefined : slug;
}
