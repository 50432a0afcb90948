import type { Client } from '../support/http.js';
import type { Remembered } from '../support/remember.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

interface Listed {
  items?: { procedure_id: string }[];
  events?: { event_id: string }[];
  next_cursor: string;
}

describe('the cursor of a list', () => {
  let service: TestService;
  let team: TestTeam;
  let other: TestTeam;
  let position: string;
  let procedure: string;

  const remember = (client: Client, question: string) =>
    client.post<Remembered>('/v1/procedures', { question, graph: {}, run: { success: true } });
  const read = (path: string, client = team.client) =>
    client.get<Listed>(`${path}${path.includes('?') ? '&' : '?'}min_position=${position}`);
  const refused = async (path: string, client = team.client) => {
    const { status, body } = await client.get(path);
    expect([status, body.code, body.field]).toEqual([422, 'cursor_invalid', 'cursor']);
  };

  beforeAll(async () => {
    service = await startTestService();
    [team, other] = [await newTeam(service), await newTeam(service)];
    for (const question of ['a', 'b', 'c']) {
      await remember(other.client, question);
      const answer = await remember(team.client, question);
      procedure = answer.body.procedure_id;
      position = answer.position;
    }
  });
  afterAll(() => service.stop());

  it('leads through the whole list, with another limit on the way', async () => {
    const first = await read('/v1/procedures?limit=1');
    const second = await read(`/v1/procedures?limit=2&cursor=${first.body.next_cursor}`);
    const all = [...(first.body.items ?? []), ...(second.body.items ?? [])].map(({ procedure_id }) => procedure_id);
    expect(new Set(all).size).toBe(3);
    expect(second.body.next_cursor).toBeNull();
  });

  it('leads through a trace', async () => {
    const path = `/v1/procedures/${procedure}/trace`;
    const first = await read(`${path}?max_events=1`);
    const second = await read(`${path}?cursor=${first.body.next_cursor}`);
    expect(second.status).toBe(200);
    expect(second.body.events?.[0]?.event_id).not.toBe(first.body.events?.[0]?.event_id);
  });

  it('is refused when any letter of it was changed, cut off or added', async () => {
    const cursor = (await read('/v1/procedures?limit=1')).body.next_cursor;
    for (let at = 0; at < cursor.length; at += 5) {
      const letter = cursor.charAt(at) === 'A' ? 'B' : 'A';
      await refused(`/v1/procedures?cursor=${cursor.slice(0, at)}${letter}${cursor.slice(at + 1)}`);
    }
    await refused(`/v1/procedures?cursor=${cursor.slice(0, -1)}`);
    await refused(`/v1/procedures?cursor=${cursor}A`);
  });

  it('is refused when somebody wrote it himself', async () => {
    const written = Buffer.from('["0"]').toString('base64url');
    for (const cursor of [written, `${'A'.repeat(22)}${written}`, 'A', '', '%00', '["0"]'])
      await refused(`/v1/procedures?cursor=${cursor}`);
    await refused('/v1/procedures?cursor=A&cursor=B');
  });

  it('is refused to another team, on another list, and with another filter', async () => {
    const cursor = (await read('/v1/procedures?limit=1')).body.next_cursor;
    await refused(`/v1/procedures?cursor=${cursor}`, other.client);
    await refused(`/v1/procedures?scope=default&cursor=${cursor}`);
    await refused(`/v1/keys?cursor=${cursor}`);
    await refused(`/v1/procedures/${procedure}/trace?cursor=${cursor}`);
  });

  it('is no parameter where there is no list', async () => {
    const { status, body } = await team.client.get(`/v1/procedures/${procedure}?cursor=x`);
    expect([status, body.code]).toEqual([400, 'unknown_field']);
  });
});
