import {
  entityWords,
  hexadecimalWords,
  naturalNames,
  otherEndings,
  productNames,
  scopeActions,
  sourceEndings,
  standardPrefixes,
} from './anchor-words.js';

/** Part of the version of every read model that holds anchors. */
export const anchorGrammarVersion = 1;

/** Anchors kept of one text: documents list identifiers by the thousand, and nobody asks for more than a few at once. */
export const mostAnchors = 500;
/** Longer tokens are no names. */
const longestToken = 256; // UTF-16 units

/**
 * hard: a candidate must have it. ranking: a candidate that has it ranks higher. strong: exact token that admits facts and
 * claims. Every hard anchor is a ranking anchor, and every ranking anchor is a strong one.
 */
export type AnchorStrength = 'hard' | 'ranking' | 'strong';

export type AnchorKind =
  'id' | 'issue_key' | 'reference' | 'version' | 'scope' | 'path' | 'file' | 'underscore_name' | 'hash' | 'address' | 'token';

export interface Anchor {
  readonly kind: AnchorKind;
  readonly strength: AnchorStrength;
  /** What equal anchors have in common, whatever their spelling: `pr#56` for "PR #56" and "pull request 56". */
  readonly value: string;
}

/** Runs without white space, quotes and brackets. One character class, so time is linear in the text. */
const token = /[^\s"'“”‘’«»„()[\]{}<>,;|!?`*=\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3001\u3002]+/gu;

/**
 * The anchors of a text, each once with its greatest strength, in the order of the text.
 *
 * Every rule looks at one token of at most 256 characters and the two before it: reading a text takes time in proportion to
 * its length, whatever stands in it. There is no rule "looks hexadecimal": `defaced` is a word.
 */
export function anchorsOf(text: string): Anchor[] {
  const anchors = new Map<string, Anchor>();
  let before: readonly string[] = [];
  for (const [found] of text.normalize('NFKC').matchAll(token)) {
    const bare = trimmed(found);
    if (bare === '') continue;
    const anchor = bare.length > longestToken ? undefined : anchorOf(bare, before);
    if (anchor) keep(anchors, anchor);
    if (anchors.size >= mostAnchors) break;
    before = [before.at(-1) ?? '', bare];
  }
  return [...anchors.values()];
}

export interface QueryAnchors {
  /** Values of hard anchors: every one is required. */
  readonly hard: readonly string[];
  /** Values of hard and ranking anchors. */
  readonly ranking: readonly string[];
  /** Values of all. */
  readonly strong: readonly string[];
}

/** Whether issue keys are required of candidates (`hard`) or only raise them (`ranking`). */
export type IssueKeyRule = 'hard' | 'ranking';

/** What a question asks for by name. */
export function queryAnchors(text: string, issueKeys: IssueKeyRule): QueryAnchors {
  const anchors = anchorsOf(text).map((anchor) =>
    anchor.kind === 'issue_key' && anchor.strength === 'hard' ? { ...anchor, strength: issueKeys } : anchor,
  );
  const values = (...strengths: AnchorStrength[]) =>
    anchors.filter(({ strength }) => strengths.includes(strength)).map(({ value }) => value);
  return { hard: values('hard'), ranking: values('hard', 'ranking'), strong: values('hard', 'ranking', 'strong') };
}

/** Values under which a document is found: anchors of every strength, because a question may name more fully what a text only mentions. */
export const documentAnchors = (text: string): string[] => anchorsOf(text).map(({ value }) => value);

const order: readonly AnchorStrength[] = ['strong', 'ranking', 'hard'];

function keep(anchors: Map<string, Anchor>, anchor: Anchor): void {
  const known = anchors.get(anchor.value);
  if (!known || order.indexOf(anchor.strength) > order.indexOf(known.strength)) anchors.set(anchor.value, anchor);
}

/** Without the punctuation of the sentence around it. */
function trimmed(found: string): string {
  let end = found.length;
  while (end > 0 && '.:…-/'.includes(found[end - 1] ?? '')) end -= 1;
  let start = 0;
  while (start < end && ':…-'.includes(found[start] ?? '')) start += 1;
  return found.slice(start, end);
}

function anchorOf(bare: string, before: readonly string[]): Anchor | undefined {
  return (
    reference(bare, before) ??
    issueKey(bare, before) ??
    serverId(bare) ??
    address(bare) ??
    version(bare, before) ??
    scope(bare) ??
    path(bare) ??
    file(bare) ??
    underscoreName(bare) ??
    hash(bare) ??
    exactToken(bare)
  );
}

const hard = (kind: AnchorKind, value: string): Anchor => ({ kind, strength: 'hard', value });
const ranking = (kind: AnchorKind, value: string): Anchor => ({ kind, strength: 'ranking', value });

/** PR #56, PR 56, PR#56, pull request 56, MR !7, issue #412. */
function reference(bare: string, before: readonly string[]): Anchor | undefined {
  const [, attached = '', number] = /^(?:(PR|MR|issue)[#!-]?|[#!])?(\d{1,9})$/i.exec(bare) ?? [];
  if (number === undefined) return undefined;
  const marked = /[#!]/.test(bare);
  const last = (attached || before.at(-1) || '').toLowerCase();
  const lastTwo = `${before.at(-2) ?? ''} ${before.at(-1) ?? ''}`.toLowerCase();
  const spelled = attached || before.at(-1) || '';
  if (/^(PR|MR)$/.test(spelled) || (/^(pr|mr)$/.test(last) && marked) || /^(?:pull|merge) request$/.test(lastTwo))
    return hard('reference', `pr#${Number(number)}`);
  if (last === 'issue' && marked) return hard('reference', `issue#${Number(number)}`);
  return marked && number.length > 1 ? { kind: 'reference', strength: 'strong', value: `#${Number(number)}` } : undefined;
}

function issueKey(bare: string, before: readonly string[]): Anchor | undefined {
  const match = /^([A-Z]{2,10})-(\d{1,9})$/.exec(bare);
  if (!match) return undefined;
  const [, prefix = '', digits = ''] = match;
  const value = bare.toLowerCase();
  if (entityWords.has((before.at(-1) ?? '').toLowerCase())) return hard('issue_key', value);
  if (digits.length < 3) return isNatural(bare) ? undefined : { kind: 'issue_key', strength: 'strong', value };
  return standardPrefixes.has(prefix) ? ranking('token', value) : hard('issue_key', value);
}

function serverId(bare: string): Anchor | undefined {
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(bare) ? hard('id', bare.toLowerCase()) : undefined;
}

/** An address of the web or of mail names something else than a file of the same ending. */
function address(bare: string): Anchor | undefined {
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\/./i.test(bare) || /^[^@\s]+@[^@\s]+\.[a-z]{2,}$/i.test(bare);
  return isAddress ? ranking('address', bare.toLowerCase()) : undefined;
}

/** v1.6.4 and 1.6.4-rc.1; without a `v` only behind a word that says so, since 28.6.2026 is a day. */
function version(bare: string, before: readonly string[]): Anchor | undefined {
  const match = /^(v?)(\d{1,5}(?:\.\d{1,5}){1,3}(?:-[0-9a-z][0-9a-z.-]*)?)$/i.exec(bare);
  if (!match) return undefined;
  const [, marker, number = ''] = match;
  const value = `v${number.toLowerCase()}`;
  if (marker || /^(?:version|release|tag)$/i.test(before.at(-1) ?? '')) return hard('version', value);
  const looksLikeDate = /^\d{1,2}\.\d{1,2}\.\d{2,4}$/.test(number);
  return /^\d+\.\d+\.\d+/.test(number) && !looksLikeDate ? ranking('version', value) : undefined;
}

function scope(bare: string): Anchor | undefined {
  const match = /^[a-z][a-z0-9_-]*(?::[a-z][a-z0-9_-]*){0,3}:([a-z]+)$/.exec(bare);
  return match && scopeActions.has(match[1] ?? '') ? hard('scope', bare) : undefined;
}

/** A path begins like one, or ends in a file. `and/or`, `singer/songwriter` and `he/she/they` do neither. */
function path(bare: string): Anchor | undefined {
  if (!/[/\\]/.test(bare)) return undefined;
  const plain = bare.replaceAll('\\', '/');
  const segments = plain.split('/').filter((segment) => segment !== '');
  if (segments.length === 0 || !/[\p{L}\p{N}]/u.test(plain)) return undefined;
  const begins =
    /^(?:\.{1,2}\/|~\/|[A-Za-z]:\/|\.[A-Za-z][\w-]*\/)/.test(plain) || (plain.startsWith('/') && segments.length > 1);
  const ending = endingOf(segments.at(-1) ?? '');
  if (begins || (ending !== undefined && sourceEndings.has(ending))) return hard('path', plain.toLowerCase());
  if (ending !== undefined && otherEndings.has(ending)) return ranking('path', plain.toLowerCase());
  return undefined;
}

/** `.env` and `.gitignore`, not `.net` and `.com`. */
const hiddenFile = /^\.(?:env|htaccess|profile|[a-z][a-z0-9_-]*(?:rc|ignore|config|attributes))(?:\.[a-z0-9]+)*$/;

function file(bare: string): Anchor | undefined {
  const value = bare.toLowerCase();
  if (productNames.has(value)) return undefined;
  if (hiddenFile.test(bare)) return hard('file', value);
  const ending = endingOf(bare);
  if (ending === undefined) return undefined;
  if (sourceEndings.has(ending)) return hard('file', value);
  return otherEndings.has(ending) ? ranking('file', value) : undefined;
}

/** In lower case only: `Left.Go` is two sentences. */
function endingOf(name: string): string | undefined {
  const match = /^[\p{L}\p{N}_.@+-]*[\p{L}\p{N}_]\.([a-z][a-z0-9]{0,11})$/u.exec(name);
  const ending = match?.[1];
  // One letter behind two or fewer is an abbreviation more often than a file.
  return ending?.length === 1 && name.length < 5 ? undefined : ending;
}

function underscoreName(bare: string): Anchor | undefined {
  const fits = /^[\p{L}\p{N}]+(?:_+[\p{L}\p{N}]+)+$/u.test(bare) && /\p{L}/u.test(bare);
  return fits ? hard('underscore_name', bare.toLowerCase()) : undefined;
}

/** 7 to 40 or exactly 64 hexadecimal digits, with a letter and a digit among them: `effaced` and `5551234` are neither. */
function hash(bare: string): Anchor | undefined {
  if (!/^(?:[0-9a-f]{7,40}|[0-9a-f]{64})$/i.test(bare)) return undefined;
  const value = bare.toLowerCase();
  const isHash = /\d/.test(value) && /[a-f]/.test(value) && !/^\d+e\d+$/.test(value) && !hexadecimalWords.has(value);
  return isHash ? hard('hash', value) : undefined;
}

/** A token that punctuation within, or a number behind a hyphen, sets apart from a word. */
function exactToken(bare: string): Anchor | undefined {
  const joinsSomething = /[\p{L}\p{N}][/:_.][\p{L}\p{N}]/u.test(bare) || /\p{L}-\d/u.test(bare);
  return joinsSomething && /\p{L}/u.test(bare) && !isNatural(bare)
    ? { kind: 'token', strength: 'strong', value: bare.toLowerCase() }
    : undefined;
}

function isNatural(bare: string): boolean {
  if (naturalNames.some((name) => name.test(bare))) return true;
  // singer/songwriter, note:see, home.Then, localhost:8080: two or more plain words, or a word and a port.
  return /^\p{L}+(?:[/:.]\p{L}+)+$/u.test(bare) || /^[\p{L}-]+:\d+$/u.test(bare);
}
