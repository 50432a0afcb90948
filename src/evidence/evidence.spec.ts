import fc from 'fast-check';
import { given } from '../../test/support/given.js';
import {
  type Authorship,
  decideEvidence,
  type EvidenceCommand,
  type EvidenceContent,
  type EvidenceEvent,
  type EvidenceFacts,
  evidenceOf,
  evolveEvidence,
  noEvidence,
  type ReplacementFacts,
} from './evidence.js';

const evidence_id = 'e-1';
const facts: EvidenceFacts = {
  evidence_id,
  generation: 0,
  source_id: null,
  sequence: null,
  source_type: 'manual',
  authority: 'unknown',
  occurred_at: null,
  valid_from: null,
  valid_to: null,
};
const content: EvidenceContent = {
  content: 'Refunds take five days.',
  author: null,
  scope: 'default',
  subjects: [],
  source_key: null,
  source_revision: null,
  group: null,
  labels: [],
  metadata: {},
  external_id: null,
};
const remembered = (more: Partial<EvidenceContent> = {}): EvidenceEvent => ({
  type: 'EvidenceRemembered',
  ...facts,
  sealed: { ...content, ...more },
});
const aliased = (external_id: string): EvidenceEvent => ({ type: 'EvidenceAliased', evidence_id, sealed: { external_id } });
const because = (
  type:
    | 'EvidenceQuarantined'
    | 'EvidenceReleased'
    | 'EvidenceSupersessionAnnounced'
    | 'EvidenceSupersessionWithdrawn'
    | 'EvidenceRetracted',
  reason: string | null = null,
): EvidenceEvent => ({ type, evidence_id, sealed: { reason } });
const superseded = (replacement_id = 'e-2'): EvidenceEvent => ({
  type: 'EvidenceSuperseded',
  evidence_id,
  replacement_id,
  based_on: ['evidence-t_e-2@0'],
  sealed: { reason: null },
});
const erased: EvidenceEvent = { type: 'EvidenceErased', evidence_id };
const quarantined = because('EvidenceQuarantined');
const announced = because('EvidenceSupersessionAnnounced');
const retracted = because('EvidenceRetracted');

const owner: Authorship = { by: 'owner', owner: 'owner', admin: false };
const stranger: Authorship = { ...owner, by: 'stranger' };
const administrator: Authorship = { ...owner, by: undefined, admin: true };

const remember = (more: { facts?: Partial<EvidenceFacts>; content?: Partial<EvidenceContent> } = {}): EvidenceCommand => ({
  type: 'Remember',
  facts: { ...facts, ...more.facts },
  content: { ...content, ...more.content },
});
const change = (
  type: 'Quarantine' | 'Release' | 'AnnounceSupersession' | 'WithdrawSupersession' | 'Retract',
  { reason, authorship = owner }: { reason?: string; authorship?: Authorship } = {},
): EvidenceCommand => ({ type, evidence_id, reason, authorship });
const replacementIn = (events: readonly EvidenceEvent[], more: Partial<ReplacementFacts> = {}): ReplacementFacts => ({
  evidence_id: 'e-2',
  evidence: evidenceOf(events.map((data) => ({ data }))),
  owner: 'owner',
  basis: 'evidence-t_e-2@0',
  ...more,
});
const supersede = (replacement = replacementIn([remembered()]), authorship = owner): EvidenceCommand => ({
  type: 'Supersede',
  evidence_id,
  reason: undefined,
  authorship,
  replacement,
});
const erase = (authorship = owner): EvidenceCommand => ({ type: 'Erase', evidence_id, authorship });

const evidence = given({ decide: decideEvidence, evolve: evolveEvidence, initial: noEvidence });

describe('remembering evidence', () => {
  it('makes it', () => evidence([]).when(remember()).then([remembered()]));
  it('again changes nothing', () => evidence([remembered()]).when(remember()).then([]));

  it.each([
    ['quarantined', [quarantined]],
    ['about to be superseded', [announced]],
    ['superseded', [superseded()]],
    ['retracted', [retracted]],
  ])('that is %s changes nothing, and brings it back no more than that', (_, events) =>
    evidence([remembered(), ...events])
      .when(remember())
      .then([]),
  );

  it('again under a new handle adds the handle', () =>
    evidence([remembered({ external_id: 'a' })])
      .when(remember({ content: { external_id: 'b' } }))
      .then([aliased('b')]));
  it.each([
    ['the first', 'a'],
    ['an added', 'b'],
  ])('again under %s handle changes nothing', (_, external_id) =>
    evidence([remembered({ external_id: 'a' }), aliased('b')])
      .when(remember({ content: { external_id } }))
      .then([]),
  );
  it('refuses the hundred and first handle', () => {
    const handles = Array.from({ length: 100 }, (_, index) => aliased(`${index}`));
    evidence([remembered(), ...handles])
      .when(remember({ content: { external_id: 'more' } }))
      .thenRefuses('too_many_external_ids');
    evidence([remembered(), ...handles])
      .when(remember({ content: { external_id: '7' } }))
      .then([]);
  });
  it('under an id that was erased is refused: it takes the next generation', () =>
    evidence([remembered(), erased]).when(remember()).thenRefuses('erased'));

  it.each([
    ['a revision without a source', { content: { source_revision: 'r1' } }, 'source_key_required'],
    ['a place without a group', { facts: { sequence: 0 } }, 'group_required'],
    [
      'a window that ends where it begins',
      { facts: { valid_from: '2026-01-01T00:00:00.000Z', valid_to: '2026-01-01T00:00:00.000Z' } },
      'validity_empty',
    ],
    [
      'a window that ends before it begins',
      { facts: { valid_from: '2026-01-02T00:00:00.000Z', valid_to: '2026-01-01T00:00:00.000Z' } },
      'validity_empty',
    ],
  ])('with %s is refused', (_, more, code) => evidence([]).when(remember(more)).thenRefuses(code));
  it.each([
    ['from', { valid_from: '2026-01-02T00:00:00.000Z' }],
    ['to', { valid_to: '2026-01-02T00:00:00.000Z' }],
    ['both', { valid_from: '2026-01-01T00:00:00.000Z', valid_to: '2026-01-01T00:00:00.001Z' }],
  ])('with a window of %s is taken', (_, window) =>
    evidence([])
      .when(remember({ facts: window }))
      .then([{ ...remembered(), ...window }]),
  );
});

describe('quarantine', () => {
  it('takes current evidence, with the reason', () =>
    evidence([remembered()])
      .when(change('Quarantine', { reason: 'forged' }))
      .then([because('EvidenceQuarantined', 'forged')]));
  it('is for everybody in the team', () =>
    evidence([remembered()])
      .when(change('Quarantine', { authorship: stranger }))
      .then([quarantined]));
  it('of quarantined evidence changes nothing', () => evidence([remembered(), quarantined]).when(change('Quarantine')).then([]));
  it('is left by a release', () =>
    evidence([remembered(), quarantined])
      .when(change('Release', { authorship: stranger }))
      .then([because('EvidenceReleased')]));
  it('gives back the status that it came from', () => {
    const events = [remembered(), announced, quarantined, because('EvidenceReleased')];
    expect(evidenceOf(events.map((data) => ({ data }))).status).toBe('supersession_pending');
  });
  it('is not released twice', () => evidence([remembered()]).when(change('Release')).then([]));
  it.each(['AnnounceSupersession', 'WithdrawSupersession'] as const)('allows no %s', (type) =>
    evidence([remembered(), quarantined]).when(change(type)).thenRefuses('evidence_quarantined'),
  );
  it('does not keep its owner from taking evidence back or replacing it', () => {
    evidence([remembered(), quarantined]).when(change('Retract')).then([retracted]);
    evidence([remembered(), quarantined]).when(supersede()).then([superseded()]);
  });
});

describe('a supersession', () => {
  it('is announced, and withdrawn', () => {
    evidence([remembered()]).when(change('AnnounceSupersession')).then([announced]);
    evidence([remembered(), announced])
      .when(change('WithdrawSupersession'))
      .then([because('EvidenceSupersessionWithdrawn')]);
  });
  it('is announced and withdrawn once', () => {
    evidence([remembered(), announced]).when(change('AnnounceSupersession')).then([]);
    evidence([remembered()]).when(change('WithdrawSupersession')).then([]);
  });
  it.each([
    ['current', []],
    ['announced', [announced]],
  ])('replaces %s evidence', (_, events) =>
    evidence([remembered(), ...events])
      .when(supersede())
      .then([superseded()]),
  );
  it('by the same again changes nothing', () => evidence([remembered(), superseded()]).when(supersede()).then([]));
  it('by another is refused', () =>
    evidence([remembered(), superseded('e-3')])
      .when(supersede())
      .thenRefuses('already_superseded'));
  it.each([
    ['itself', replacementIn([remembered()], { evidence_id }), 'replacement_is_itself'],
    ['nothing', replacementIn([]), 'replacement_not_found'],
    ['what was erased', replacementIn([remembered(), erased]), 'replacement_not_found'],
    ['what somebody else remembered', replacementIn([remembered()], { owner: 'other' }), 'replacement_of_other_owner'],
    ['what is quarantined', replacementIn([remembered(), quarantined]), 'replacement_not_current'],
    ['what is to be superseded', replacementIn([remembered(), announced]), 'replacement_not_current'],
    ['what was superseded', replacementIn([remembered(), superseded('e-1')]), 'replacement_not_current'],
    ['what was retracted', replacementIn([remembered(), retracted]), 'replacement_not_current'],
  ])('by %s is refused', (_, replacement, code) => evidence([remembered()]).when(supersede(replacement)).thenRefuses(code));
});

describe('what is final', () => {
  const everyChange = [
    change('Quarantine'),
    change('Release'),
    change('AnnounceSupersession'),
    change('WithdrawSupersession'),
    supersede(replacementIn([remembered()], { evidence_id: 'e-9' })),
  ];
  it.each([
    ['superseded', superseded(), 'already_superseded'],
    ['retracted', retracted, 'already_retracted'],
  ])('%s evidence takes no change but an erasure', (_, final, code) => {
    for (const command of everyChange) evidence([remembered(), final]).when(command).thenRefuses(code);
    evidence([remembered(), final]).when(erase()).then([erased]);
  });
  it('superseded evidence cannot be retracted, and retracted evidence is retracted once', () => {
    evidence([remembered(), superseded()]).when(change('Retract')).thenRefuses('already_superseded');
    evidence([remembered(), retracted]).when(change('Retract')).then([]);
  });
});

describe('an erasure', () => {
  it.each([
    ['current', []],
    ['quarantined', [quarantined]],
    ['announced', [announced]],
    ['superseded', [superseded()]],
    ['retracted', [retracted]],
  ])('takes %s evidence', (_, events) =>
    evidence([remembered(), ...events])
      .when(erase())
      .then([erased]),
  );
  it('happens once, and nothing follows it', () => {
    evidence([remembered(), erased]).when(erase()).then([]);
    for (const command of [change('Quarantine'), change('Release'), change('Retract'), supersede()])
      evidence([remembered(), erased]).when(command).thenRefuses('erased');
  });
});

describe('who may', () => {
  const owned = [change('AnnounceSupersession'), change('WithdrawSupersession'), change('Retract'), supersede(), erase()];
  const asked = (command: EvidenceCommand, authorship: Authorship) => ({ ...command, authorship }) as EvidenceCommand;

  it.each(owned.map((command) => [command.type, command] as const))('%s: its owner and an administrator alone', (_, command) => {
    for (const authorship of [stranger, { ...stranger, by: undefined }, { by: undefined, owner: undefined, admin: false }])
      evidence([remembered()]).when(asked(command, authorship)).thenRefuses('not_the_owner');
    for (const authorship of [owner, administrator])
      expect(decideEvidence(asked(command, authorship), evidenceOf([{ data: remembered() }]))).not.toHaveProperty('refused');
  });
  it('decides nothing about what is not there', () => {
    for (const command of [...owned, change('Quarantine'), change('Release')])
      evidence([]).when(command).thenRefuses('not_found');
  });
});

describe('whatever is asked for in whatever order', () => {
  const authorship = fc.constantFrom(owner, stranger, administrator);
  const reason = fc.option(fc.string(), { nil: undefined });
  const replacement = fc.constantFrom(
    replacementIn([remembered()]),
    replacementIn([]),
    replacementIn([remembered(), quarantined]),
    replacementIn([remembered()], { evidence_id }),
    replacementIn([remembered()], { owner: 'other' }),
    replacementIn([remembered()], { evidence_id: 'e-3' }),
  );
  const command: fc.Arbitrary<EvidenceCommand> = fc.oneof(
    fc.option(fc.constantFrom('a', 'b', 'c')).map((external_id) => remember({ content: { external_id } })),
    fc
      .record({
        type: fc.constantFrom('Quarantine', 'Release', 'AnnounceSupersession', 'WithdrawSupersession', 'Retract' as const),
        reason,
        authorship,
      })
      .map((more) => ({ ...more, evidence_id })),
    fc.record({ reason, authorship, replacement }).map((more): EvidenceCommand => ({ type: 'Supersede', evidence_id, ...more })),
    { weight: 1, arbitrary: authorship.map((by) => erase(by)) },
  );
  const history = (commands: readonly EvidenceCommand[]) =>
    commands.reduce<EvidenceEvent[]>((events, one) => {
      const decision = decideEvidence(one, evidenceOf(events.map((data) => ({ data }))));
      return 'refused' in decision ? events : [...events, ...decision];
    }, []);
  const stateAfter = (events: readonly EvidenceEvent[]) => evidenceOf(events.map((data) => ({ data })));

  it('every event changes the state, so none is without meaning', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
        const events = history(commands);
        for (let index = 0; index < events.length; index += 1)
          expect(stateAfter(events.slice(0, index + 1))).not.toEqual(stateAfter(events.slice(0, index)));
      }),
    );
  });

  it('a command that was carried out changes nothing a second time', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 20 }), command, (commands, one) => {
        const before = history(commands);
        const after = history([...commands, one]);
        fc.pre(after.length > before.length);
        expect(history([...commands, one, one])).toEqual(after);
      }),
    );
  });

  it('it is remembered once and erased once, and nothing but an erasure follows what is final', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
        const types = history(commands).map(({ type }) => type);
        expect(types.filter((type) => type === 'EvidenceRemembered').length).toBeLessThanOrEqual(1);
        if (types.includes('EvidenceErased')) expect(types.indexOf('EvidenceErased')).toBe(types.length - 1);
        const final = types.findIndex((type) => type === 'EvidenceSuperseded' || type === 'EvidenceRetracted');
        const later = final < 0 ? [] : types.slice(final + 1);
        expect(later.filter((type) => type !== 'EvidenceErased' && type !== 'EvidenceAliased')).toEqual([]);
      }),
    );
  });

  it('the state never throws, in whatever order events come', () => {
    const events = fc.constantFrom(remembered(), aliased('a'), quarantined, announced, retracted, superseded(), erased);
    fc.assert(
      fc.property(fc.array(events, { maxLength: 20 }), (some) => {
        const erasedAt = some.findIndex(({ type }) => type === 'EvidenceErased');
        if (erasedAt >= 0) expect(stateAfter(some).status).toBe('erased');
        else expect(() => stateAfter(some)).not.toThrow();
      }),
    );
  });
});
