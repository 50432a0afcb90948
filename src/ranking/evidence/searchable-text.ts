import { documentAnchors } from '../anchors/anchors.js';

/** The text under which evidence is found: its content, and its metadata, because identifiers often stand only there. */
export function searchableText(content: string, metadata: Readonly<Record<string, string | number | boolean | null>>): string {
  const lines = Object.entries(metadata).flatMap(([key, value]) => (value === null ? [] : [metadataLine(key, value)]));
  return [content, ...lines].join('\n');
}

/** `pr_number: 56` is what people call PR #56, and `issue: 412` issue #412; everything else is found as it is written. */
function metadataLine(key: string, value: string | number | boolean): string {
  const line = `${key}: ${value}`;
  const reference = /^(pr|pull_?request|merge_?request|issue)(?:_?(?:number|id|no))?$/i.exec(key)?.[1];
  if (reference === undefined || !/^#?\d{1,9}$/.test(String(value))) return line;
  return `${line}\n${/^issue$/i.test(reference) ? 'issue' : 'PR'} #${String(value).replace('#', '')}`;
}

/**
 * Anchors of evidence: those of its text, and those that it is called by (its id, external ids, source key), so that a
 * question which names evidence by its id is not refused by the evidence itself.
 */
export const evidenceAnchors = (names: readonly string[], searchable: string): string[] =>
  documentAnchors([...names, searchable].join('\n'));
