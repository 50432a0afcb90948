import { naturalId } from '../event-log/ids.js';
import { naturalKey } from './evidence-places.js';
import { evidenceInput, RememberEvidenceRequest } from './evidence-requests.js';

const input = (fields: Partial<RememberEvidenceRequest>) =>
  evidenceInput(Object.assign(new RememberEvidenceRequest(), { content: 'Refunds take five days.', ...fields }));

const everyField: Partial<RememberEvidenceRequest> = {
  scope: 'shop',
  author: 'Mark',
  source_key: 'handbook',
  source_revision: 'r7',
  group: 'chat-3',
  sequence: 4,
  occurred_at: '2026-01-31T12:00:00.000Z',
};

describe('what evidence is', () => {
  it('never changes, since it is in the id of all that was remembered', () => {
    expect(naturalKey('owner', 'source', input(everyField))).toEqual([
      ...['evidence', 'shop', 'owner', 'source', 'r7', 'chat-3', '4', 'Mark', '2026-01-31T12:00:00.000Z'],
      'Refunds take five days.',
    ]);
    expect(naturalKey(undefined, null, input({}))).toEqual([
      ...['evidence', 'default', '', '', '', '', '', '', ''],
      'Refunds take five days.',
    ]);
    const secret = Buffer.alloc(32, 1);
    expect(naturalId(secret, naturalKey('owner', 'source', input(everyField)), 0)).toBe('a453a75b-1c27-5576-adc5-c34f8bc9abf3');
  });

  it('is not its labels, metadata, subjects, authority, kind of source, validity or handle', () => {
    const more: Partial<RememberEvidenceRequest> = {
      labels: ['a'],
      metadata: { a: 1 },
      subjects: ['s'],
      authority: 'primary',
      source_type: 'document',
      valid_from: '2026-01-01T00:00:00.000Z',
      valid_to: '2027-01-01T00:00:00.000Z',
      external_id: 'x',
    };
    expect(naturalKey('owner', 'source', input({ ...everyField, ...more }))).toEqual(
      naturalKey('owner', 'source', input(everyField)),
    );
  });

  it('tells the first place in a group from no place', () => {
    expect(naturalKey('owner', null, input({ group: 'g', sequence: 0 }))).not.toEqual(
      naturalKey('owner', null, input({ group: 'g' })),
    );
  });
});
