import { countEvents } from '../support/count-events.js';
import { EvidenceClient, type ItemReceipt } from '../support/evidence.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

describe('a batch of evidence over HTTP', () => {
  let service: TestService;
  let team: TestTeam;
  let evidence: EvidenceClient;
  let texts = 0;
  const item = (more: object = {}) => ({ content: `Text number ${(texts += 1)}.`, ...more });
  const outcomes = ({ items }: { items: readonly ItemReceipt[] }) => items.map(({ outcome }) => outcome);
  const key = (value: string) => ({ headers: { 'idempotency-key': value } });
  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
    evidence = new EvidenceClient(team.client);
  });
  afterAll(() => service.stop());

  it('remembers each item, in the order given', async () => {
    const items = [item({ source_key: 'book' }), item({ source_key: 'book', group: 'g', sequence: 0 }), item()];
    const answer = await evidence.batch(items);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('etag')).toBeNull();
    expect(answer.body.items).toEqual(
      items.map((one, index) => ({
        index,
        outcome: 'created',
        evidence_id: expect.any(String) as string,
        status: 'current',
        source_id: 'source_key' in one ? (expect.any(String) as string) : null,
        code: null,
        field: null,
      })),
    );
    for (const [index, receipt] of answer.body.items.entries())
      expect((await evidence.get(receipt.evidence_id ?? '', answer.position)).body).toMatchObject(items[index] ?? {});
  });

  it('refuses a bad item alone, with code and field', async () => {
    const bad: [unknown, string, string | null][] = [
      [{}, 'validation_failed', 'content'],
      [{ content: 'a\0b' }, 'validation_failed', 'content'],
      [{ content: 'half \ud800' }, 'validation_failed', 'content'],
      [{ content: 'a', colour: 'red' }, 'unknown_field', 'colour'],
      [{ content: 'a', labels: [1] }, 'validation_failed', 'labels'],
      [{ content: 'a', source_revision: 'r1' }, 'source_key_required', 'source_key'],
      [{ content: 'a', sequence: 1 }, 'group_required', 'group'],
      [{ content: 'a', valid_from: '2026-01-01T00:00:00Z', valid_to: '2026-01-01T00:00:00Z' }, 'validity_empty', 'valid_to'],
      [
        {
          content: 'a',
          metadata: Object.fromEntries(Array.from({ length: 64 }, (_, name) => [name, '\u{1F600}'.repeat(2_000)])),
        },
        'too_large',
        null,
      ],
      ['text', 'body_not_an_object', null],
      [null, 'body_not_an_object', null],
      [[], 'body_not_an_object', null],
      [{ content: 'a', idempotency_key: 'with blank' }, 'idempotency_key_invalid', 'idempotency_key'],
      [JSON.parse(`{"content":"a","metadata":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`), 'validation_failed', 'metadata'],
    ];
    const answer = await evidence.batch(bad.flatMap(([one]) => [item(), one]));
    expect(answer.status).toBe(200);
    const refused = answer.body.items.filter((_, index) => index % 2 === 1);
    expect(refused.map(({ outcome, code, field }) => [outcome, code, field])).toEqual(
      bad.map(([, code, field]) => ['refused', code, field]),
    );
    const good = answer.body.items.filter((_, index) => index % 2 === 0);
    expect(new Set(outcomes({ items: good }))).toEqual(new Set(['created']));
    for (const { evidence_id } of good) expect((await evidence.get(evidence_id ?? '', answer.position)).status).toBe(200);
  });

  it('takes two hundred items, and no more, and not none', async () => {
    const many = Array.from({ length: 200 }, () => item());
    const answer = await evidence.batch(many);
    expect(outcomes(answer.body)).toEqual(many.map(() => 'created'));
    expect(new Set(answer.body.items.map(({ evidence_id }) => evidence_id)).size).toBe(200);
    for (const bad of [[...many, item()], [], {}, 'items', null]) {
      const refused = await evidence.batch(bad);
      expect([refused.status, refused.body.code, refused.body.field]).toEqual([422, 'validation_failed', 'items']);
    }
  });

  it('takes 16 MB where a single request takes one', async () => {
    // What fills the request is refused, so that nothing of it is left to be indexed.
    const filling = Array.from({ length: 150 }, () => ({ content: 'x'.repeat(100_000) }));
    const answer = await evidence.batch([item(), ...filling, item()]);
    const expected = ['created', ...filling.map(() => 'refused'), 'created'];
    expect([answer.status, outcomes(answer.body)]).toEqual([200, expected]);
    const tooLarge = await evidence.batch([item({ metadata: { a: 'x'.repeat(17 * 1024 * 1024) } })]);
    expect([tooLarge.status, tooLarge.body.code]).toEqual([413, 'too_large']);
    const single = await team.client.post<{ code: string }>(
      '/v1/evidence',
      item({ metadata: { a: 'x'.repeat(2 * 1024 * 1024) } }),
    );
    expect([single.status, single.body.code]).toEqual([413, 'too_large']);
  }, 60_000);

  it('names a field that a batch does not have, and takes no version', async () => {
    const unknown = await team.client.post<{ code: string }>('/v1/evidence/batch', { items: [item()], dry_run: true });
    expect([unknown.status, unknown.body.code]).toEqual([400, 'unknown_field']);
    const list = await team.client.post<{ code: string }>('/v1/evidence/batch', [item()]);
    expect([list.status, list.body.code]).toEqual([400, 'body_not_an_object']);
    const versioned = await evidence.batch([item()], { headers: { 'if-match': '"0"' } });
    expect([versioned.status, versioned.body.code]).toEqual([422, 'if_match_not_allowed']);
  });

  it('finds what is known, in the log and in itself', async () => {
    const known = item({ external_id: 'a' });
    const first = await evidence.remember(known);
    const twice = item();
    const answer = await evidence.batch([known, { ...known, external_id: 'b' }, twice, { ...twice, external_id: 'c' }, twice]);
    expect(outcomes(answer.body)).toEqual(['duplicate', 'duplicate', 'created', 'duplicate', 'duplicate']);
    const ids = answer.body.items.map(({ evidence_id }) => evidence_id);
    expect(ids).toEqual([first.body.evidence_id, first.body.evidence_id, ids[2], ids[2], ids[2]]);
    expect((await evidence.get(ids[0] ?? '', answer.position)).body.external_ids).toEqual(['a', 'b']);
    expect((await evidence.get(ids[2] ?? '', answer.position)).body.external_ids).toEqual(['c']);
  });

  it('sent again finds all of it known', async () => {
    const items = [item(), item(), {}];
    const first = await evidence.batch(items);
    const again = await evidence.batch(items);
    expect(outcomes(again.body)).toEqual(['duplicate', 'duplicate', 'refused']);
    expect(again.body.items.map(({ evidence_id }) => evidence_id)).toEqual(
      first.body.items.map(({ evidence_id }) => evidence_id),
    );
  });

  it('sent many times at once makes each memory once', async () => {
    const items = Array.from({ length: 20 }, () => item());
    const answers = await Promise.all(Array.from({ length: 4 }, () => evidence.batch(items)));
    for (const index of items.keys()) {
      const receipts = answers.map(({ body }) => body.items[index]);
      expect(new Set(receipts.map((receipt) => receipt?.evidence_id)).size).toBe(1);
      expect(receipts.map((receipt) => receipt?.outcome).sort()).toEqual(['created', 'duplicate', 'duplicate', 'duplicate']);
    }
  });

  describe('under an idempotency key', () => {
    it('of the whole gets the same receipt', async () => {
      const items = [item(), {}, item()];
      const first = await evidence.batch(items, key('whole'));
      const again = await evidence.batch(items, key('whole'));
      expect([again.status, again.body, again.position]).toEqual([200, first.body, first.position]);
    });

    it('of the whole gets the same receipt though the table of receipts is empty', async () => {
      const items = [item(), {}, item({ content: 'a\0b' }), item()];
      const first = await evidence.batch(items, key('lost'));
      await service.infrastructure.database.query('DELETE FROM mneme.commands');
      const again = await evidence.batch(items, key('lost'));
      expect(again.body).toEqual(first.body);
    });

    it('of the whole is refused for other items', async () => {
      await evidence.batch([item()], key('other'));
      const answer = await evidence.batch([item()], key('other'));
      expect([answer.status, answer.body.code]).toEqual([422, 'idempotency_key_reused']);
    });

    it('of an item gets that item’s receipt, in whatever batch it comes again', async () => {
      const keyed = item({ idempotency_key: 'item-1' });
      const first = await evidence.batch([keyed]);
      const again = await evidence.batch([item(), keyed, keyed]);
      expect(outcomes(again.body)).toEqual(['created', 'created', 'created']);
      expect(again.body.items.slice(1)).toEqual([1, 2].map((index) => ({ ...first.body.items[0], index })));
      await service.infrastructure.database.query('DELETE FROM mneme.commands');
      expect((await evidence.batch([keyed])).body.items).toEqual(first.body.items);
    });

    it('of an item is refused for another item, in the same batch too', async () => {
      await evidence.batch([item({ idempotency_key: 'item-2' })]);
      const answer = await evidence.batch([
        item({ idempotency_key: 'item-2' }),
        item({ idempotency_key: 'item-3' }),
        item({ idempotency_key: 'item-3' }),
      ]);
      expect(answer.body.items.map(({ outcome, code, field }) => [outcome, code, field])).toEqual([
        ['refused', 'idempotency_key_reused', 'idempotency_key'],
        ['created', null, null],
        ['refused', 'idempotency_key_reused', 'idempotency_key'],
      ]);
    });

    it('of an item is another key in another team', async () => {
      const other = new EvidenceClient((await newTeam(service, 'Other')).client);
      const keyed = item({ idempotency_key: 'item-4' });
      const [mine, theirs] = [await evidence.batch([keyed]), await other.batch([keyed])];
      expect([...outcomes(mine.body), ...outcomes(theirs.body)]).toEqual(['created', 'created']);
      expect(mine.body.items[0]?.evidence_id).not.toBe(theirs.body.items[0]?.evidence_id);
    });
  });

  it('writes one event an item, and nothing for what is refused', async () => {
    const before = await countEvents(service.infrastructure);
    await evidence.batch([item(), {}, item(), item({ sequence: 1 })]);
    expect((await countEvents(service.infrastructure)) - before).toBe(2);
  });
});
