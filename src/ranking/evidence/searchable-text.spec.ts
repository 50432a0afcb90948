import { documentAnchors } from '../anchors/anchors.js';
import { evidenceAnchors, searchableText } from './searchable-text.js';

describe('the text under which evidence is found', () => {
  it('is its content and what its metadata say', () => {
    expect(searchableText('Deployed.', { branch: 'main', retries: 3, green: true, note: null })).toBe(
      'Deployed.\nbranch: main\nretries: 3\ngreen: true',
    );
  });

  it.each<[string, string | number, string]>([
    ['pr', 56, 'pr#56'],
    ['pr_number', '56', 'pr#56'],
    ['pull_request', '#56', 'pr#56'],
    ['issue', 412, 'issue#412'],
    ['commit', '2e4b0cc', '2e4b0cc'],
    ['issue', 'DM-4', 'dm-4'],
    ['path', '.github/workflows/release.yml', '.github/workflows/release.yml'],
  ])('has the anchor of %s %s', (key, value, anchor) => {
    expect(documentAnchors(searchableText('Fixed.', { [key]: value }))).toContain(anchor);
  });

  it('takes no other number for a reference', () => {
    expect(documentAnchors(searchableText('Fixed.', { price: 56, pr: 'none', issue: 1.5 }))).toEqual([]);
  });
});

describe('the anchors of evidence', () => {
  it('are those of its names, and then of its text', () => {
    expect(evidenceAnchors(['INV-991', 'docs/travel.md'], 'see PR #56')).toEqual(['inv-991', 'docs/travel.md', 'pr#56']);
  });
});
