import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packageRoot } from '../../src/config/package-root.js';

/** A fenced block: its language, the words after it, and its text. */
export interface Block {
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
}

export interface Page {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

const fence = /^ *```(\S*)([^\n]*)\n([\s\S]*?)^ *```$/gm;

export const blocksOf = (markdown: string): Block[] =>
  [...markdown.matchAll(fence)].map(([, language = '', words = '', text = '']) => ({
    language,
    words: words.split(' ').filter((word) => word !== ''),
    text,
  }));

/** All that people read: the pages at the top of the repository and those in `docs`. */
export function pages(): Page[] {
  const top = readdirSync(packageRoot).filter((name) => name.endsWith('.md'));
  const docs = readdirSync(join(packageRoot, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  return [...top.map((name) => join(packageRoot, name)), ...docs.map((name) => join(packageRoot, 'docs', name))].map(pageAt);
}

function pageAt(file: string): Page {
  const text = readFileSync(file, 'utf8');
  return { path: relative(packageRoot, file), text, blocks: blocksOf(text) };
}
