import type { Remembered } from '../support/remember.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

describe('24 writers of one memory at once', () => {
  let service: TestService;
  let team: TestTeam;
  let remembered: Remembered;

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
    const body = { question: 'q', graph: {}, run: { success: true } };
    remembered = (await team.client.post<Remembered>('/v1/procedures', body)).body;
  });
  afterAll(() => service.stop());

  const writers = Array.from({ length: 24 }, (_, index) => index);
  const statuses = async (answers: Promise<{ status: number }>[]) => (await Promise.all(answers)).map(({ status }) => status);

  it('all have their feedback stored', async () => {
    const path = `/v1/executions/${remembered.execution_id}/feedback`;
    const answers = writers.map((index) => team.client.post(path, { worked: index % 2 === 0, usefulness: index / 24 }));
    expect(await statuses(answers)).toEqual(writers.map(() => 201));
    const last = await team.client.post(path, { worked: true, usefulness: 1 });
    expect(last.headers.get('etag')).toBe(`"${1 + writers.length}"`);
  }, 60_000);

  it('all prune', async () => {
    const path = `/v1/procedures/${remembered.procedure_id}/prune`;
    const answers = writers.map((day) =>
      team.client.post(path, { before: `2026-03-${String(day + 1).padStart(2, '0')}T00:00:00Z` }),
    );
    expect(await statuses(answers)).toEqual(writers.map(() => 200));
  }, 60_000);
});
