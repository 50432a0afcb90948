import { EvidenceClient } from '../support/evidence.js';
import { Client } from '../support/http.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

const unknown = '11111111-2222-4333-8444-555555555555';

describe('the life of evidence over HTTP', () => {
  let service: TestService;
  let team: TestTeam;
  /** Everything, as the author; memory:write alone, as the author and as somebody else; admin alone, with no profile at all. */
  let all: EvidenceClient;
  let owner: EvidenceClient;
  let stranger: EvidenceClient;
  let administrator: EvidenceClient;
  let texts = 0;
  const remembered = () => all.remembered({ content: `Text number ${(texts += 1)}.` });

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
    all = new EvidenceClient(team.client);
    owner = new EvidenceClient(await team.clientWith(['memory:write', 'erase']));
    stranger = new EvidenceClient(await team.clientWith(['memory:write', 'erase'], await team.newProfile('Stranger')));
    const { key } = (await service.operator.post<{ key: string }>('/v1/keys', { team_id: team.id, scopes: ['admin'] })).body;
    administrator = new EvidenceClient(new Client(service.url, key));
  });
  afterAll(() => service.stop());

  const seen = async (id: string, position: string) => {
    const { body } = await all.get(id, position);
    return { status: body.status, eligible: body.eligible };
  };

  it('leads into quarantine and out of it, for anybody in the team', async () => {
    const { id } = await remembered();
    const quarantined = await stranger.change(id, 'quarantine', { reason: 'looks forged' });
    expect([quarantined.status, quarantined.body]).toEqual([200, { evidence_id: id, status: 'quarantined' }]);
    expect(quarantined.headers.get('etag')).toBe('"1"');
    expect(await seen(id, quarantined.position)).toEqual({ status: 'quarantined', eligible: false });
    const released = await stranger.change(id, 'release');
    expect(released.body).toEqual({ evidence_id: id, status: 'current' });
    expect(await seen(id, released.position)).toEqual({ status: 'current', eligible: true });
  });

  it('leads to another status once, however often it is asked for', async () => {
    const { id } = await remembered();
    const first = await owner.change(id, 'quarantine');
    const second = await owner.change(id, 'quarantine');
    expect([second.status, second.body, second.position]).toEqual([200, first.body, first.position]);
  });

  it('leads to a replacement by way of an announcement, which may be withdrawn', async () => {
    const [old, replacement] = [await remembered(), await remembered()];
    const announced = await owner.change(old.id, 'announce-supersession');
    expect(await seen(old.id, announced.position)).toEqual({ status: 'supersession_pending', eligible: false });
    const withdrawn = await owner.change(old.id, 'withdraw-supersession');
    expect(await seen(old.id, withdrawn.position)).toEqual({ status: 'current', eligible: true });
    await owner.change(old.id, 'announce-supersession');
    const superseded = await owner.change(old.id, 'supersede', { replacement_id: replacement.id, reason: 'corrected' });
    expect(superseded.body).toEqual({ evidence_id: old.id, status: 'superseded' });
    expect(await seen(old.id, superseded.position)).toEqual({ status: 'superseded', eligible: false });
    expect((await all.get(old.id)).body).toMatchObject({ replacement_id: replacement.id });
    expect(await seen(replacement.id, superseded.position)).toEqual({ status: 'current', eligible: true });
  });

  it('gives a release back to where it came from', async () => {
    const { id } = await remembered();
    await owner.change(id, 'announce-supersession');
    await stranger.change(id, 'quarantine');
    expect((await owner.change(id, 'withdraw-supersession')).body).toMatchObject({ code: 'evidence_quarantined' });
    const released = await stranger.change(id, 'release');
    expect(released.body.status).toBe('supersession_pending');
  });

  it('ends with a retraction', async () => {
    const { id } = await remembered();
    const retracted = await owner.change(id, 'retract', { reason: 'never said' });
    expect(retracted.body).toEqual({ evidence_id: id, status: 'retracted' });
    expect(await seen(id, retracted.position)).toEqual({ status: 'retracted', eligible: false });
  });

  it('goes no further once it is superseded or retracted', async () => {
    const [superseded, retracted, other] = [await remembered(), await remembered(), await remembered()];
    await owner.change(superseded.id, 'supersede', { replacement_id: other.id });
    await owner.change(retracted.id, 'retract');
    for (const change of ['quarantine', 'release', 'announce-supersession', 'withdraw-supersession', 'retract']) {
      const answer = await owner.change(superseded.id, change);
      expect([change, answer.status, answer.body.code]).toEqual([change, 409, 'already_superseded']);
    }
    for (const change of ['quarantine', 'release', 'announce-supersession', 'withdraw-supersession']) {
      const answer = await owner.change(retracted.id, change);
      expect([change, answer.status, answer.body.code]).toEqual([change, 409, 'already_retracted']);
    }
    const replaced = await owner.change(retracted.id, 'supersede', { replacement_id: other.id });
    expect([replaced.status, replaced.body.code]).toEqual([409, 'already_retracted']);
  });

  it('goes on under the same words only as what it was', async () => {
    const content = 'Taken back.';
    const { id } = await all.remembered({ content });
    await owner.change(id, 'retract');
    expect((await all.remember({ content })).body).toMatchObject({ evidence_id: id, outcome: 'duplicate', status: 'retracted' });
  });

  it('is decided by its owner or an administrator', async () => {
    const { id: replacement_id } = await remembered();
    for (const change of ['announce-supersession', 'withdraw-supersession', 'supersede', 'retract']) {
      const { id } = await remembered();
      const body = change === 'supersede' ? { replacement_id } : {};
      const refused = await stranger.change(id, change, body);
      expect([change, refused.status, refused.body.code]).toEqual([change, 403, 'not_the_owner']);
      expect([change, (await administrator.change(id, change, body)).status]).toEqual([change, 200]);
    }
    const { id } = await remembered();
    const refused = await stranger.erase(id);
    expect([refused.status, refused.body.code]).toEqual([403, 'not_the_owner']);
    expect((await owner.erase(id)).status).toBe(200);
    expect((await administrator.erase((await remembered()).id)).status).toBe(200);
  });

  it('asks an administrator who writes nothing for the scope to quarantine', async () => {
    const { id } = await remembered();
    expect((await administrator.change(id, 'quarantine')).status).toBe(403);
  });

  describe('a replacement', () => {
    const refused = async (replacement_id: unknown) => {
      const { id } = await remembered();
      const { status, body } = await owner.change(id, 'supersede', {
        replacement_id: replacement_id === 'itself' ? id : replacement_id,
      });
      return [status, body.code, body.field];
    };
    it('cannot be itself', async () => expect(await refused('itself')).toEqual([422, 'replacement_is_itself', 'replacement_id']));
    it('must be there', async () => expect(await refused(unknown)).toEqual([422, 'replacement_not_found', 'replacement_id']));
    it('must be named', async () => expect(await refused(undefined)).toEqual([422, 'validation_failed', 'replacement_id']));
    it('must be of the same owner', async () => {
      const { body } = await stranger.remember({ content: 'Of the stranger.' });
      expect(await refused(body.evidence_id)).toEqual([422, 'replacement_of_other_owner', 'replacement_id']);
    });
    it('must be current', async () => {
      const { id } = await remembered();
      await owner.change(id, 'quarantine');
      expect(await refused(id)).toEqual([409, 'replacement_not_current', 'replacement_id']);
    });
    it('must not be erased', async () => {
      const { id } = await remembered();
      await owner.erase(id);
      expect(await refused(id)).toEqual([422, 'replacement_not_found', 'replacement_id']);
    });
  });

  it('counts versions', async () => {
    const { id } = await remembered();
    const ifMatch = (version: string) => ({ headers: { 'if-match': version } });
    expect((await owner.change(id, 'quarantine', {}, ifMatch('"0"'))).status).toBe(200);
    const late = await owner.change(id, 'release', {}, ifMatch('"0"'));
    expect([late.status, late.body]).toEqual([412, expect.objectContaining({ code: 'version_conflict', current_version: 1 })]);
  });

  it('answers a repeated command as at first, whatever came after', async () => {
    const { id } = await remembered();
    const key = { headers: { 'idempotency-key': `quarantine-${id}` } };
    const first = await owner.change(id, 'quarantine', { reason: 'once' }, key);
    await owner.change(id, 'release');
    await service.infrastructure.database.query('DELETE FROM mneme.commands');
    const again = await owner.change(id, 'quarantine', { reason: 'once' }, key);
    expect([again.status, again.body, again.position]).toEqual([200, first.body, first.position]);
    expect((await all.get(id, again.position)).body.status).toBe('current');
  });

  it('keeps out unknown fields and reasons that are too long', async () => {
    const { id } = await remembered();
    expect((await owner.change(id, 'quarantine', { why: 'x' })).status).toBe(400);
    expect((await owner.change(id, 'quarantine', { reason: 'x'.repeat(2_001) })).status).toBe(422);
    expect((await owner.change('not-a-uuid', 'quarantine')).status).toBe(422);
  });

  it('is over for what is not there', async () => {
    for (const change of ['quarantine', 'release', 'announce-supersession', 'withdraw-supersession', 'retract'])
      expect((await owner.change(unknown, change)).status).toBe(404);
    expect((await owner.change(unknown, 'supersede', { replacement_id: unknown })).status).toBe(404);
    expect((await owner.erase(unknown)).status).toBe(404);
  });

  describe('of a deactivated owner', () => {
    it('is not eligible until the owner is active again', async () => {
      const profile = await team.newProfile('Leaves');
      const leaving = new EvidenceClient(await team.clientWith(['memory:write'], profile));
      const { id } = await leaving.remembered({ content: 'Said by one who leaves.' });
      const gone = await team.client.post(`/v1/profiles/${profile}/deactivate`);
      expect((await all.get(id, gone.position)).body).toMatchObject({ status: 'current', owner_active: false, eligible: false });
      const back = await team.client.post(`/v1/profiles/${profile}/reactivate`);
      expect((await all.get(id, back.position)).body).toMatchObject({ owner_active: true, eligible: true });
    });
  });

  describe('within a window', () => {
    it('is eligible from its first moment until just before its last', async () => {
      const [from, to] = ['2026-06-01T12:00:00.000Z', '2026-06-01T13:00:00.000Z'];
      const { id, position } = await all.remembered({ content: 'For an hour.', valid_from: from, valid_to: to });
      const at = async (time: string) => {
        service.clock.set(new Date(time));
        return (await all.get(id, position)).body.eligible;
      };
      expect(await at('2026-06-01T11:59:59.999Z')).toBe(false);
      expect(await at(from)).toBe(true);
      expect(await at('2026-06-01T12:59:59.999Z')).toBe(true);
      expect(await at(to)).toBe(false);
      service.clock.set(new Date(from));
    });
  });
});
