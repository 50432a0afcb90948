import { ErasureConsumer } from '../../src/erasure/erasure-consumer.js';
import { HealthController } from '../../src/http/health.controller.js';
import { rememberVersion } from '../support/remember.js';
import { newTeam, startTestService, type TestService } from '../support/service.js';

describe('operating the service', () => {
  let service: TestService;
  beforeAll(async () => (service = await startTestService()));
  afterAll(() => service.stop());

  const metrics = async () => {
    const response = await fetch(`${service.url}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain');
    return response.text();
  };

  it('is live and ready', async () => {
    expect((await service.anonymous.get('/health/live')).body).toEqual({ status: 'live' });
    const ready = await service.anonymous.get<{
      status: string;
      projections: { name: string; state: string }[];
      reactors: object[];
    }>('/health/ready');
    expect([ready.status, ready.body.status]).toEqual([200, 'ready']);
    expect(ready.body.reactors).toEqual([{ name: 'execution_retention', state: 'caught_up', lag_seconds: 0 }]);
    expect(ready.body.projections.map(({ name }) => name).sort()).toEqual([
      'access',
      'event_refs',
      'evidence',
      'evidence_search',
      'judged_counters',
      'moments',
      'procedures',
    ]);
  });

  it('shows requests by route, appends, the log, projections and embeddings, and nothing of what was said', async () => {
    const team = await newTeam(service, 'xyzzyteam');
    const { id, position } = await rememberVersion(team.client, { question: 'xyzzyquestion', scope: 'xyzzyscope' });
    await team.client.get(`/v1/procedures/${id}?min_position=${position}`);
    await team.client.get('/v1/xyzzyroute');
    await team.client.post('/v1/procedures/recall', { question: 'xyzzyquestion', scope: 'xyzzyscope', min_position: position });
    const text = await metrics();
    for (const line of [
      'mneme_event_log_up 1',
      /^mneme_event_log_append_duration_seconds_count\{outcome="appended"\} \d+$/m,
      /^mneme_projection_position\{projection="procedures"\} \d+$/m,
      'mneme_projection_stopped{projection="judged_counters"} 0',
      /^mneme_projection_lag_seconds\{projection="access"\} 0$/m,
      'mneme_reactor_stopped{reactor="execution_retention"} 0',
      /^mneme_reactor_position\{reactor="execution_retention"\} \d+$/m,
      'mneme_reactor_timers{reactor="execution_retention"} 0',
      'mneme_recall_candidates_bucket{le="1",recall="procedures"} 1',
      'mneme_recall_candidates_bucket{le="0",recall="procedures"} 0',
      'mneme_recall_returned_sum{recall="procedures"} 1',
      'mneme_embeddings_pending 0',
      'mneme_embeddings_model_up 1',
      /^mneme_embedding_model_duration_seconds_count\{outcome="embedded"\} \d+$/m,
      'mneme_embeddings_oldest_pending_seconds 0',
      /^mneme_http_request_duration_seconds_count\{method="POST",route="\/v1\/procedures",status="201"\} 1$/m,
      /^mneme_http_request_duration_seconds_count\{method="GET",route="\/v1\/procedures\/\{id\}",status="200"\} 1$/m,
      /^mneme_http_request_duration_seconds_count\{method="GET",route="unmatched",status="404"\} 1$/m,
    ]) {
      expect(text).toMatch(line);
    }
    expect(text).not.toContain('xyzzy');
    expect(text).not.toContain(id);
    expect(text).not.toContain(team.id);
  });

  it('is degraded, and never unavailable, when a reactor has stopped', async () => {
    const { database } = service.infrastructure;
    const health = async () => {
      const { status, body } = await service.anonymous.get<{ status: string; reactors: { state: string }[] }>('/health/ready');
      return [status, body.status, body.reactors.map(({ state }) => state)];
    };
    await database.query(`UPDATE mneme.reactors SET last_error = 'Error, at NoteTaken in position 3'`);
    expect(await health()).toEqual([200, 'degraded', ['stopped']]);
    expect(await metrics()).toContain('mneme_reactor_stopped{reactor="execution_retention"} 1');
    await database.query('UPDATE mneme.reactors SET last_error = NULL');
    expect(await health()).toEqual([200, 'ready', ['caught_up']]);
  });

  it('describes itself, every operation under a name of its own', async () => {
    const { body } = await service.anonymous.get<{
      openapi: string;
      components: { schemas: Record<string, object> };
      paths: Record<string, Record<string, { operationId: string; security?: unknown }>>;
    }>('/openapi.json');
    const operations = Object.values(body.paths).flatMap((path) => Object.values(path));
    const dead = [...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/([^"]*)"/g)].filter(
      ([, name]) => !(name && name in body.components.schemas),
    );
    expect(dead.map(([text]) => text)).toEqual([]);
    const names = operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(names).toEqual(
      expect.arrayContaining([
        'remember',
        'recall_memory',
        'remember_procedure',
        'recall_procedures',
        'record_execution',
        'record_feedback',
        'trace_procedure',
        'trace_execution',
      ]),
    );
    expect((await fetch(`${service.url}/docs`)).status).toBe(200);
  });

  it('is not ready before the keys of erased memories are destroyed, which a restore may have brought back', async () => {
    const { log, database, engine, reactors, keyDestroyer, logIdentity, embeddingWorker } = service.infrastructure;
    const notYetRead = new ErasureConsumer({ database, log, logId: logIdentity.logId, streamPrefix: 'mneme_', keyDestroyer });
    const health = new HealthController(log, database, engine, reactors, notYetRead, embeddingWorker);
    await expect(health.ready()).rejects.toMatchObject({ status: 503, code: 'not_ready' });
  });
});
