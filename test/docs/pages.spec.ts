import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { configurationPage, settingViews } from '../../src/cli/configuration.command.js';
import { packageRoot } from '../../src/config/package-root.js';
import { pages } from './markdown.js';

const link = /\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g;

describe('the docs', () => {
  it('link to nothing that is missing', () => {
    const dead = pages().flatMap(({ path, text }) =>
      [...text.matchAll(link)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(join(packageRoot, dirname(path), target)))
        .map((target) => `${path}: ${target}`),
    );
    expect(dead).toEqual([]);
  });

  it('are all found from their index', () => {
    const index = readFileSync(join(packageRoot, 'docs/README.md'), 'utf8');
    const missing = pages()
      .map(({ path }) => path)
      .filter((path) => path.startsWith('docs/') && path !== 'docs/README.md')
      .filter((path) => !index.includes(`(${path.slice('docs/'.length)})`));
    expect(missing).toEqual([]);
  });

  it('begin, in the README, with the two commands that show and test everything', () => {
    const lines = readFileSync(join(packageRoot, 'README.md'), 'utf8').split('\n').slice(0, 4);
    expect(lines).toEqual([
      '```sh',
      expect.stringMatching(/^npm ci && npm run demo\b/),
      expect.stringMatching(/^npm ci && npm test\b/),
      '```',
    ]);
  });

  it('have every setting as the settings themselves say', () => {
    expect(readFileSync(join(packageRoot, 'docs/configuration.md'), 'utf8')).toBe(`${configurationPage(settingViews())}\n`);
  });
});
