import { expectGolden } from '../../test/support/golden.js';
import { eventCatalogue } from '../all-events.js';
import { type EvidenceEvent, evidenceStream } from './evidence.js';
import { type SourceEvent, sourceStream } from './source.js';

const team = '6f1c3f4e-3f2d-4f0e-9c0b-1d2a3b4c5d6e';
const evidence_id = 'a1b2c3d4-0000-4000-8000-00000000abcd';
const replacement_id = 'b1b2c3d4-0000-4000-8000-00000000abcd';
const source_id = 'c1b2c3d4-0000-4000-8000-00000000abcd';

const evidenceEventsOfOld: EvidenceEvent[] = [
  {
    type: 'EvidenceRemembered',
    evidence_id,
    generation: 1,
    source_id,
    sequence: 4,
    source_type: 'conversation',
    authority: 'primary',
    occurred_at: '2026-01-31T12:00:00.000Z',
    valid_from: '2026-01-01T00:00:00.000Z',
    valid_to: null,
    sealed: {
      content: 'Refunds take five days.',
      author: 'Mark',
      scope: 'shop',
      subjects: ['customer-17'],
      source_key: 'handbook',
      source_revision: 'r7',
      group: 'chat-3',
      labels: ['policy'],
      metadata: { channel: 'email', priority: 2, internal: true, ticket: null },
      external_id: 'msg-17',
    },
  },
  { type: 'EvidenceAliased', evidence_id, sealed: { external_id: 'msg-18' } },
  { type: 'EvidenceQuarantined', evidence_id, sealed: { reason: 'looks forged' } },
  { type: 'EvidenceReleased', evidence_id, sealed: { reason: 'it is genuine' } },
  { type: 'EvidenceSupersessionAnnounced', evidence_id, sealed: { reason: 'a correction is on its way' } },
  { type: 'EvidenceSupersessionWithdrawn', evidence_id, sealed: { reason: null } },
  {
    type: 'EvidenceSuperseded',
    evidence_id,
    replacement_id,
    based_on: [`mneme_evidence-${team}_${replacement_id}@0`],
    sealed: { reason: 'corrected' },
  },
  { type: 'EvidenceRetracted', evidence_id, sealed: { reason: 'never said' } },
  { type: 'EvidenceErased', evidence_id },
];

const sourceEventsOfOld: SourceEvent[] = [
  { type: 'SourceRevisionPublished', source_id, number: 7, sealed: { key: 'handbook', revision: 'r7' } },
  { type: 'SourceErased', source_id },
];

describe('events stored earlier', () => {
  it.each(evidenceEventsOfOld.map((event) => [event.type, event] as const))('%s is still read as it was written', (_, event) =>
    expectGolden(eventCatalogue, { event, stream: evidenceStream(team, evidence_id) }),
  );
  it.each(sourceEventsOfOld.map((event) => [event.type, event] as const))('%s is still read as it was written', (_, event) =>
    expectGolden(eventCatalogue, { event, stream: sourceStream(team, source_id) }),
  );
});
