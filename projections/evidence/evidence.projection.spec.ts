import fc from 'fast-check';
import { type RecordedEvent, redacted } from '../../src/event-log/domain-event.js';
import { decideEvidence, type EvidenceCommand, type EvidenceEvent, evidenceOf } from '../../src/evidence/evidence.js';
import type { SourceEvent } from '../../src/evidence/source.js';
import { type Change, lookup, type Row } from '../engine/projection.js';
import { Coverage, RowSet } from '../engine/row-set.js';
import { shapeOf } from '../engine/table-shape.js';
import { evidenceProjection } from './evidence.projection.js';

const team = '11111111-1111-4111-8111-111111111111';
const profile = '22222222-2222-4222-8222-222222222222';
const evidence_id = '33333333-3333-4333-8333-333333333333';
const replacement_id = '44444444-4444-4444-8444-444444444444';
const source_id = '55555555-5555-4555-8555-555555555555';

const recorded = <Event extends EvidenceEvent | SourceEvent>(data: Event, index: number): RecordedEvent<Event> => ({
  stream: 'mneme_test',
  team,
  kind: 'evidence',
  streamId: evidence_id,
  revision: BigInt(index),
  position: BigInt(100 + index),
  recordedAt: new Date('2026-06-01T12:00:00Z'),
  eventId: `event-${index}`,
  data,
  metadata: {
    correlationId: 'c',
    causationId: 'c',
    causationDepth: 0,
    team,
    profile,
    apiKey: undefined,
    schemaVersion: 1,
    occurredAt: undefined,
    previousHash: '',
    hash: '',
  },
});

/** Every row after the events, each applied `times` times, by table. */
function rowsAfter(events: readonly (EvidenceEvent | SourceEvent)[], times = 1): Record<string, Row[]> {
  const rows = new RowSet();
  for (const [index, data] of events.entries()) {
    const event = recorded(data, index);
    for (let time = 0; time < times; time += 1) {
      const coverage = new Coverage();
      for (const asked of evidenceProjection.load([event])) coverage.add(asked);
      for (const change of evidenceProjection.changes(event, rows.view(coverage))) apply(rows, change);
    }
  }
  const all = new Coverage();
  for (const table of evidenceProjection.tables) all.add(lookup(table, { team_id: team }));
  const view = rows.view(all);
  return Object.fromEntries(evidenceProjection.tables.map((table) => [table.name, view.find(table, { team_id: team })]));
}

function apply(rows: RowSet, change: Change): void {
  const shape = shapeOf(change.table);
  if (change.op === 'put') rows.put(shape, change.row);
  else if (change.op === 'erase') rows.erase(shape, shape.where(change.where));
  else throw new Error('this projection puts and erases');
}

const remember = (external_id: string | null): EvidenceCommand => ({
  type: 'Remember',
  facts: {
    ...{ evidence_id, generation: 0, source_id, sequence: 1, source_type: 'conversation', authority: 'primary' },
    ...{ occurred_at: '2026-01-01T00:00:00.000Z', valid_from: null, valid_to: '2027-01-01T00:00:00.000Z' },
  },
  content: {
    ...{ content: 'text', author: 'Mark', scope: 'default', subjects: ['s1', 's2'], labels: ['l'], metadata: { a: 1 } },
    ...{ source_key: 'book', source_revision: 'r1', group: 'g', external_id },
  },
});
const authorship = { by: 'o', owner: 'o', admin: false };
const replacement = {
  evidence_id: replacement_id,
  evidence: evidenceOf([{ data: remembered() }]),
  owner: 'o',
  basis: 'stream@0',
};
function remembered(): EvidenceEvent {
  const decided = decideEvidence(remember(null), { status: 'none' });
  const [event] = 'refused' in decided ? [] : decided;
  if (!event) throw new Error('it is remembered');
  return event;
}
const about = { evidence_id, reason: undefined };
const command: fc.Arbitrary<EvidenceCommand> = fc.oneof(
  fc.constantFrom(null, 'a', 'b').map(remember),
  fc.constantFrom<EvidenceCommand>(
    { type: 'Quarantine', ...about },
    { type: 'Release', ...about },
    { type: 'AnnounceSupersession', ...about, authorship },
    { type: 'WithdrawSupersession', ...about, authorship },
    { type: 'Supersede', ...about, authorship, replacement },
    { type: 'Retract', ...about, authorship },
  ),
);

/** The events that a story of commands comes to. */
const story = fc.array(command, { maxLength: 20 }).map((commands) =>
  commands.reduce<EvidenceEvent[]>((events, one) => {
    const decision = decideEvidence(one, evidenceOf(events.map((data) => ({ data }))));
    return 'refused' in decision ? events : [...events, ...decision];
  }, []),
);

describe('the read model of evidence', () => {
  it('has the row that the events fold to, whatever happened', () => {
    fc.assert(
      fc.property(story, (events) => {
        const [row] = rowsAfter(events).evidence ?? [];
        const folded = evidenceOf(events.map((data) => ({ data })));
        if (folded.status === 'none' || folded.status === 'erased') return row === undefined;
        expect(row).toMatchObject({
          status: folded.status,
          quarantined_from: folded.status === 'quarantined' ? folded.from : null,
          replacement_id: folded.status === 'superseded' ? folded.replacement_id : null,
          external_ids: JSON.stringify(folded.external_ids),
          revision: BigInt(events.length - 1),
          position: 100n,
          profile_id: profile,
        });
        return true;
      }),
    );
  });

  it('comes to the same rows when every event comes twice', () => {
    fc.assert(fc.property(story, (events) => expect(rowsAfter(events, 2)).toEqual(rowsAfter(events))));
  });

  it('loses every row of erased evidence, and of evidence whose key is gone before it is read', () => {
    const erased: EvidenceEvent = { type: 'EvidenceErased', evidence_id };
    const none = Object.fromEntries(evidenceProjection.tables.map(({ name }) => [name, []]));
    fc.assert(
      fc.property(story, (events) => {
        expect(rowsAfter([...events, erased])).toEqual(none);
        const shut = events.map((event): EvidenceEvent => ('sealed' in event ? { ...event, sealed: redacted } : event));
        expect(rowsAfter([...shut, erased])).toEqual(none);
        expect(rowsAfter(shut)).toEqual(none);
      }),
    );
  });

  describe('of sources', () => {
    const published = (number: number, revision: string): SourceEvent => ({
      type: 'SourceRevisionPublished',
      source_id,
      number,
      sealed: { key: 'book', revision },
    });
    const erased: SourceEvent = { type: 'SourceErased', source_id };

    it('has the latest revision, and every publication', () => {
      const rows = rowsAfter([published(1, 'r1'), published(2, 'r2'), published(3, 'r1')], 2);
      expect(rows.sources).toMatchObject([
        { current_revision: 'r1', number: 3, position: 100n, revision: 2n, profile_id: profile },
      ]);
      expect(rows.source_revisions).toMatchObject([
        { number: 1, source_revision: 'r1', position: 100n },
        { number: 2, source_revision: 'r2', position: 101n },
        { number: 3, source_revision: 'r1', position: 102n },
      ]);
      expect(rows.erased_sources).toEqual([]);
    });

    it('writes two rows for a publication, however much evidence there is', () => {
      const event = recorded(published(1, 'r1'), 0);
      const coverage = new Coverage();
      for (const asked of evidenceProjection.load([event])) coverage.add(asked);
      expect(evidenceProjection.load([event])).toHaveLength(1);
      expect(evidenceProjection.changes(event, new RowSet().view(coverage))).toHaveLength(2);
    });

    it('keeps two ids of an erased one', () => {
      const rows = rowsAfter([published(1, 'r1'), published(2, 'r2'), erased], 2);
      expect(rows).toMatchObject({ sources: [], source_revisions: [], erased_sources: [{ team_id: team, source_id }] });
    });
  });
});
