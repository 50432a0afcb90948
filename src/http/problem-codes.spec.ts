import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../config/package-root.js';

/** Codes as they are written in the source, and by no other means. */
const written = [
  /new HttpProblem\(\s*\d+,\s*'(\w+)'/g,
  /new CommandRefused\('(\w+)'/g,
  /refused: '(\w+)'/g,
  /status: \d+, code: '(\w+)'/g,
  /unavailable\('(\w+_\w+)'\)/g,
];

const sources = readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map((file) => readFileSync(join(packageRoot, 'src', file), 'utf8'));

const documented = new Set(
  readFileSync(join(packageRoot, 'docs/http-api.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| \d{3} +\|/.test(line))
    .flatMap((line) => [...(line.split('|')[2] ?? '').matchAll(/`(\w+)`/g)].map(([, code]) => code)),
);

describe('the codes of problems', () => {
  it('are all in the documentation', () => {
    const codes = new Set(
      sources.flatMap((text) => written.flatMap((pattern) => [...text.matchAll(pattern)].map(([, code]) => code))),
    );
    expect(codes.size).toBeGreaterThan(30);
    expect([...codes].filter((code) => !documented.has(code))).toEqual([]);
  });

  it('are in the documentation only while they are in the source', () => {
    const all = sources.join('\n');
    expect([...documented].filter((code) => !new RegExp(`['"]${code}['"]`).test(all))).toEqual([]);
  });
});
