import { type Evidence, EvidenceClient, type Problem } from '../support/evidence.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/) as string;
const everyField = {
  content: 'Refunds take five days.',
  author: 'Mark',
  scope: 'shop',
  subjects: ['customer-17', 'customer-18'],
  source_key: 'handbook',
  source_revision: 'r7',
  group: 'chat-3',
  sequence: 4,
  source_type: 'conversation',
  authority: 'primary',
  labels: ['policy', 'refunds'],
  metadata: { channel: 'email', priority: 2, internal: true, ticket: null },
  occurred_at: '2026-01-31T12:00:00.000Z',
  valid_from: '2026-01-01T00:00:00.000Z',
  valid_to: '2027-01-01T00:00:00.000Z',
};

describe('evidence over HTTP', () => {
  let service: TestService;
  let team: TestTeam;
  let evidence: EvidenceClient;
  let texts = 0;
  const newText = () => `Text number ${(texts += 1)}.`;

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
    evidence = new EvidenceClient(team.client);
  });
  afterAll(() => service.stop());

  describe('remembering', () => {
    it('keeps every field as it was given', async () => {
      const answer = await evidence.remember({ ...everyField, external_id: 'msg-17' });
      expect(answer.status).toBe(201);
      expect(answer.body).toEqual({ evidence_id: uuid, outcome: 'created', status: 'current', source_id: uuid });
      expect(answer.headers.get('etag')).toBe('"0"');
      const read = await evidence.get(answer.body.evidence_id, answer.position);
      expect(read.headers.get('etag')).toBe('"0"');
      expect(read.body).toEqual({
        ...everyField,
        evidence_id: answer.body.evidence_id,
        source_id: answer.body.source_id,
        profile_id: team.profile,
        external_ids: ['msg-17'],
        status: 'current',
        replacement_id: null,
        revision_current: true,
        source_erased: false,
        owner_active: true,
        eligible: true,
        recorded_at: expect.stringMatching(/Z$/) as string,
        revision: 0,
      });
    });

    it('needs a text alone, and never takes now for when it happened or holds', async () => {
      const content = newText();
      const { id, position } = await evidence.remembered({ content });
      expect((await evidence.get(id, position)).body).toMatchObject({
        content,
        scope: 'default',
        source_type: 'manual',
        authority: 'unknown',
        author: null,
        subjects: [],
        labels: [],
        metadata: {},
        source_id: null,
        occurred_at: null,
        valid_from: null,
        valid_to: null,
      });
    });

    it('keeps a text to the letter: blanks around it, line ends, and signs of any plane', async () => {
      const content = ` Zeile\r\n\t„äöü“ 退款需要五天 \u{1F600}e\u0301 `;
      const { id, position } = await evidence.remembered({ content });
      expect((await evidence.get(id, position)).body.content).toBe(content);
    });

    it('keeps each subject and label once', async () => {
      const { id, position } = await evidence.remembered({ content: newText(), subjects: ['a', 'b', 'a'], labels: ['x', 'x'] });
      expect((await evidence.get(id, position)).body).toMatchObject({ subjects: ['a', 'b'], labels: ['x'] });
    });
  });

  describe('the same again', () => {
    it('answers with the first one’s id', async () => {
      const content = newText();
      const first = await evidence.remember({ ...everyField, content });
      const again = await evidence.remember({ ...everyField, content });
      expect(again.status).toBe(200);
      expect(again.body).toEqual({ ...first.body, outcome: 'duplicate' });
      expect(again.position).toBe(first.position);
    });

    it('whose labels, metadata or validity differ is the same still, and keeps what the first said', async () => {
      const content = newText();
      const first = await evidence.remember({ content, labels: ['first'] });
      const again = await evidence.remember({
        content,
        labels: ['second'],
        metadata: { a: 1 },
        authority: 'primary',
        valid_from: '2026-01-01T00:00:00Z',
      });
      expect(again.body.evidence_id).toBe(first.body.evidence_id);
      expect((await evidence.get(first.body.evidence_id, first.position)).body).toMatchObject({
        labels: ['first'],
        metadata: {},
      });
    });

    it('gets a new handle added, once', async () => {
      const content = newText();
      const first = await evidence.remember({ content, external_id: 'a' });
      const second = await evidence.remember({ content, external_id: 'b' });
      const third = await evidence.remember({ content, external_id: 'b' });
      expect([second.status, third.status]).toEqual([200, 200]);
      expect(second.headers.get('etag')).toBe('"1"');
      expect(third.position).toBe(second.position);
      expect((await evidence.get(first.body.evidence_id, third.position)).body.external_ids).toEqual(['a', 'b']);
      for (const external_id of ['a', 'b'])
        expect((await evidence.list({ external_id })).map(({ evidence_id }) => evidence_id)).toContain(first.body.evidence_id);
    });

    it.each([
      ['scope', { scope: 'elsewhere' }],
      ['source', { source_key: 'other' }],
      ['revision', { source_revision: 'r8' }],
      ['group', { group: 'chat-4' }],
      ['place in its group', { sequence: 5 }],
      ['author', { author: 'Mary' }],
      ['time', { occurred_at: '2026-01-31T12:00:01Z' }],
      ['text', { content: 'Refunds take six days.' }],
    ])('is another memory under another %s', async (_, difference) => {
      const first = await evidence.remember(everyField);
      const second = await evidence.remember({ ...everyField, ...difference });
      expect(second.status).toBe(201);
      expect(second.body.evidence_id).not.toBe(first.body.evidence_id);
    });

    it('is another memory for another owner', async () => {
      const content = newText();
      const other = new EvidenceClient(await team.clientWith(['memory:write'], await team.newProfile('Other')));
      const [first, second] = [await evidence.remember({ content }), await other.remember({ content })];
      expect(second.status).toBe(201);
      expect(second.body.evidence_id).not.toBe(first.body.evidence_id);
    });

    it('at the same moment makes one memory', async () => {
      const content = newText();
      const answers = await Promise.all(Array.from({ length: 8 }, () => evidence.remember({ content })));
      expect(new Set(answers.map(({ body }) => body.evidence_id)).size).toBe(1);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    });

    it('at the same moment with a handle each keeps all of them', async () => {
      const content = newText();
      const handles = Array.from({ length: 8 }, (_, index) => `handle-${index}`);
      const answers = await Promise.all(handles.map((external_id) => evidence.remember({ content, external_id })));
      const id = answers[0]?.body.evidence_id ?? '';
      for (const { position } of answers) expect((await evidence.get(id, position)).status).toBe(200);
      const read = await evidence.get(id);
      expect([...read.body.external_ids].sort()).toEqual(handles);
    });
  });

  describe('a repeated command', () => {
    const key = (value: string) => ({ headers: { 'idempotency-key': value } });

    it('gets the same receipt', async () => {
      const body = { content: newText() };
      const first = await evidence.remember(body, key('once'));
      const again = await evidence.remember(body, key('once'));
      expect([again.status, again.body, again.position]).toEqual([201, first.body, first.position]);
    });

    it('gets the same receipt though the table of receipts is empty', async () => {
      const body = { content: newText() };
      const first = await evidence.remember(body, key('lost'));
      await service.infrastructure.database.query('DELETE FROM mneme.commands');
      const again = await evidence.remember(body, key('lost'));
      expect([again.status, again.body]).toEqual([201, first.body]);
    });

    it('of evidence that was erased since makes no new one', async () => {
      const body = { content: newText() };
      const first = await evidence.remember(body, key('erased since'.replaceAll(' ', '-')));
      await evidence.erase(first.body.evidence_id);
      await service.infrastructure.database.query('DELETE FROM mneme.commands');
      const again = await evidence.remember(body, key('erased-since'));
      expect(again.body).toEqual(first.body);
      expect((await evidence.get(first.body.evidence_id)).status).toBe(404);
    });

    it('with another body is refused', async () => {
      await evidence.remember({ content: newText() }, key('reused'));
      const other = await evidence.remember({ content: newText() }, key('reused'));
      expect(other.status).toBe(422);
      expect(other.body).toMatchObject({ code: 'idempotency_key_reused' });
    });
  });

  describe('what is refused', () => {
    const longest = 'ä'.repeat(20_000);
    it.each([
      ['no text', {}, 'content'],
      ['an empty text', { content: '' }, 'content'],
      ['a blank text', { content: ' \n' }, 'content'],
      ['a text too long', { content: `${longest}a` }, 'content'],
      ['a text with U+0000', { content: 'a\0b' }, 'content'],
      ['half of a surrogate pair', { content: 'a\ud800b' }, 'content'],
      ['an author too long', { content: 'a', author: 'a'.repeat(201) }, 'author'],
      ['a scope that is no slug', { content: 'a', scope: 'Not a slug' }, 'scope'],
      ['nine subjects', { content: 'a', subjects: '1 2 3 4 5 6 7 8 9'.split(' ') }, 'subjects'],
      ['a subject too long', { content: 'a', subjects: ['a'.repeat(129)] }, 'subjects'],
      ['an empty subject', { content: 'a', subjects: [''] }, 'subjects'],
      ['a source key too long', { content: 'a', source_key: 'a'.repeat(501) }, 'source_key'],
      ['a revision too long', { content: 'a', source_key: 'k', source_revision: 'a'.repeat(129) }, 'source_revision'],
      ['a revision without a source', { content: 'a', source_revision: 'r1' }, 'source_key'],
      ['a group too long', { content: 'a', group: 'a'.repeat(257) }, 'group'],
      ['a place without a group', { content: 'a', sequence: 1 }, 'group'],
      ['a place below zero', { content: 'a', group: 'g', sequence: -1 }, 'sequence'],
      ['a place too large', { content: 'a', group: 'g', sequence: 2 ** 31 }, 'sequence'],
      ['a broken place', { content: 'a', group: 'g', sequence: 1.5 }, 'sequence'],
      ['an unknown source type', { content: 'a', source_type: 'rumour' }, 'source_type'],
      ['an unknown authority', { content: 'a', authority: 'divine' }, 'authority'],
      ['too many labels', { content: 'a', labels: Array.from({ length: 33 }, (_, label) => String(label)) }, 'labels'],
      ['a label too long', { content: 'a', labels: ['a'.repeat(65)] }, 'labels'],
      ['metadata that is a list', { content: 'a', metadata: [1] }, 'metadata'],
      ['metadata with a list', { content: 'a', metadata: { a: [1] } }, 'metadata'],
      ['metadata with an object', { content: 'a', metadata: { a: {} } }, 'metadata'],
      ['a nameless metadatum', { content: 'a', metadata: { '': 1 } }, 'metadata'],
      ['a metadatum too long', { content: 'a', metadata: { a: 'a'.repeat(2_001) } }, 'metadata'],
      [
        'too many metadata',
        { content: 'a', metadata: Object.fromEntries(Array.from({ length: 65 }, (_, name) => [name, 1])) },
        'metadata',
      ],
      ['a time without offset', { content: 'a', occurred_at: '2026-01-31T12:00:00' }, 'occurred_at'],
      [
        'an empty window',
        { content: 'a', valid_from: '2026-01-01T00:00:00Z', valid_to: '2026-01-01T01:00:00+01:00' },
        'valid_to',
      ],
      ['a window backwards', { content: 'a', valid_from: '2027-01-01T00:00:00Z', valid_to: '2026-01-01T00:00:00Z' }, 'valid_to'],
      ['a handle too long', { content: 'a', external_id: 'a'.repeat(257) }, 'external_id'],
    ])('%s is a 422 that names the field', async (_, body, field) => {
      const answer = await team.client.post<Problem>('/v1/evidence', body);
      expect([answer.status, answer.body.field]).toEqual([422, field]);
    });

    it('an unknown field is a 400 that names it', async () => {
      const answer = await team.client.post<Problem>('/v1/evidence', { content: 'a', colour: 'red' });
      expect([answer.status, answer.body.code, answer.body.field]).toEqual([400, 'unknown_field', 'colour']);
    });

    it('but the longest of everything is taken', async () => {
      const answer = await evidence.remember({
        content: longest,
        author: '\u{1F600}'.repeat(200),
        subjects: Array.from({ length: 8 }, (_, index) => `${index}`.padEnd(128, 's')),
        source_key: '\u{1F600}'.repeat(500),
        source_revision: '\u{1F600}'.repeat(128),
        group: '\u{1F600}'.repeat(256),
        sequence: 2 ** 31 - 1,
        labels: Array.from({ length: 32 }, (_, index) => `${index}`.padEnd(64, 'l')),
        metadata: Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`${index}`.padEnd(64, 'n'), 'm'.repeat(2_000)])),
        external_id: '\u{1F600}'.repeat(256),
      });
      expect(answer.status).toBe(201);
      expect((await evidence.get(answer.body.evidence_id, answer.position)).body.content).toBe(longest);
    });

    it('more than an event holds is a 413', async () => {
      const metadata = Object.fromEntries(Array.from({ length: 64 }, (_, name) => [name, '\u{1F600}'.repeat(2_000)]));
      const answer = await team.client.post<Problem>('/v1/evidence', { content: 'a', metadata });
      expect([answer.status, answer.body.code]).toEqual([413, 'too_large']);
    });

    it('the hundred and first handle is a 422', async () => {
      const content = newText();
      for (let handle = 0; handle < 100; handle += 1)
        expect([200, 201]).toContain((await evidence.remember({ content, external_id: `h${handle}` })).status);
      const answer = await team.client.post<Problem>('/v1/evidence', { content, external_id: 'one more' });
      expect([answer.status, answer.body.code, answer.body.field]).toEqual([422, 'too_many_external_ids', 'external_id']);
    }, 60_000);

    it('a key that may not write, or has no profile to write for', async () => {
      const reader = await team.clientWith(['memory:read']);
      expect((await reader.post('/v1/evidence', { content: 'a' })).status).toBe(403);
      const issued = await service.operator.post<Problem>('/v1/keys', { team_id: team.id, scopes: ['memory:write'] });
      expect([issued.status, issued.body.code]).toEqual([422, 'profile_required']);
    });
  });

  describe('browsing', () => {
    it('pages through everything, the latest first', async () => {
      const scope = 'pages';
      const ids: string[] = [];
      let position = '';
      for (let index = 0; index < 5; index += 1) {
        const one = await evidence.remembered({ scope, content: newText() });
        ids.unshift(one.id);
        position = one.position;
      }
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page: { items: Evidence[]; next_cursor: string | null } = (
          await team.client.get<{ items: Evidence[]; next_cursor: string | null }>(
            `/v1/evidence?scope=${scope}&limit=2&min_position=${position}${cursor === null ? '' : `&cursor=${cursor}`}`,
          )
        ).body;
        seen.push(...page.items.map(({ evidence_id }) => evidence_id));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(seen).toEqual(ids);
    });

    it('filters by each of its filters, and by all of them together', async () => {
      const one = { ...everyField, scope: 'filters', content: newText(), external_id: 'handle' };
      const { id, position, source } = await evidence.remembered(one);
      await evidence.remembered({ scope: 'filters', content: newText() });
      const filters: Record<string, string> = {
        scope: 'filters',
        status: 'current',
        eligible: 'true',
        profile_id: team.profile,
        author: 'Mark',
        source_id: source,
        source_revision: 'r7',
        group: 'chat-3',
        source_type: 'conversation',
        authority: 'primary',
        label: 'policy',
        subject: 'customer-18',
        external_id: 'handle',
      };
      for (const [name, value] of Object.entries(filters)) {
        const found = await evidence.list({ scope: 'filters', [name]: value }, position);
        expect(found.map(({ evidence_id }) => evidence_id)).toContain(id);
      }
      expect(await evidence.list(filters, position)).toHaveLength(1);
      for (const [name, value] of Object.entries({
        ...{ status: 'retracted', eligible: 'false', profile_id: id, author: 'Mary', source_id: id, source_revision: 'r8' },
        ...{ group: 'chat-4', source_type: 'manual', authority: 'unknown', label: 'x', subject: 'x', external_id: 'x' },
      }))
        expect(await evidence.list({ ...filters, [name]: value }, position)).toEqual([]);
    });

    it('refuses filters it does not have', async () => {
      expect((await team.client.get('/v1/evidence?colour=red')).status).toBe(400);
      expect((await team.client.get('/v1/evidence?status=erased')).status).toBe(422);
    });
  });
});
