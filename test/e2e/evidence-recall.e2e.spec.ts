import { type Evidence, EvidenceClient } from '../support/evidence.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

interface Recalled {
  readonly results: readonly { evidence_id: string; context: string; neighbours?: { evidence_id: string }[] }[];
  readonly guidance: string | null;
  readonly empty_reason: string | null;
  readonly abstained: boolean;
}

describe('recall of evidence over HTTP', () => {
  let service: TestService;
  let team: TestTeam;
  let evidence: EvidenceClient;

  beforeAll(async () => (service = await startTestService()));
  afterAll(() => service.stop());
  beforeEach(async () => {
    team = await newTeam(service);
    evidence = new EvidenceClient(team.client);
  });

  const remember = async (
    ...items: (Partial<Evidence> & { content: string })[]
  ): Promise<{ ids: string[]; position: string }> => {
    const ids: string[] = [];
    let position = '';
    for (const item of items) {
      const answer = await evidence.remember(item);
      expect(answer.status).toBe(201);
      ids.push(answer.body.evidence_id);
      ({ position } = answer);
    }
    return { ids, position };
  };
  const recall = async (question: string, options: object = {}) => {
    const answer = await team.client.post<Recalled>('/v1/recall', { question, ...options });
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const found = async (question: string, options: object = {}) =>
    (await recall(question, options)).results.map(({ evidence_id }) => evidence_id);

  it('answers a question with the text that helps, and nothing else about it', async () => {
    const { ids, position } = await remember({ content: 'Refunds take five days.' }, { content: 'The office has a green door.' });
    const body = await recall('How long does a refund take?', { min_position: position });
    expect(body.results[0]).toEqual({ evidence_id: ids[0], context: 'Refunds take five days.' });
  });

  it('finds whole words of a question whichever of them a text has', async () => {
    const { ids, position } = await remember(
      { content: 'We sell garden chairs.' },
      { content: 'The warehouse in Lyon closes at six.' },
    );
    expect(await found('When does the old warehouse near the river close on Mondays?', { min_position: position })).toContain(
      ids[1],
    );
  });

  it('says why it is empty', async () => {
    const { position } = await remember({ content: 'The build of PROJ-124 is green.' });
    const body = await recall('What about PROJ-123?', { min_position: position });
    expect(body).toMatchObject({ results: [], empty_reason: 'hard_anchors', abstained: true });
  });
});
