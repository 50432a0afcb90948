import { JsonLogger, redacted } from './json-logger.js';

function logger(level: 'debug' | 'info' | 'error') {
  const lines: string[] = [];
  return { lines, log: new JsonLogger(level, { write: (line: string) => void lines.push(line) }) };
}

describe('logs', () => {
  it.each([
    ['postgres://mneme:hunter2@db:5432/mneme', 'postgres://[redacted]@db:5432/mneme'],
    ['failed: esdb://admin:hunter2@node1,node2?tls=false', 'failed: esdb://[redacted]@node1,node2?tls=false'],
    [`key mneme_${'a'.repeat(43)} is bad`, 'key mneme_[redacted] is bad'],
    ['postgres://mneme:p@ss/w@db:5432/mneme', 'postgres://[redacted]@db:5432/mneme'],
    [`mneme-local_${'a'.repeat(43)}`, 'mneme-local_[redacted]'],
    [
      'mneme_procedure-6f1c3f4e-3f2d-4f0e-9c0b-1d2a3b4c5d6e_a1b2c3d4-0000-4000-8000-00000000abcd',
      'mneme_procedure-6f1c3f4e-3f2d-4f0e-9c0b-1d2a3b4c5d6e_a1b2c3d4-0000-4000-8000-00000000abcd',
    ],
    ['mneme_judged_counters_1_0a1b2c3d', 'mneme_judged_counters_1_0a1b2c3d'],
    ['authorization: Bearer hunter2', 'authorization: Bearer [redacted]'],
    ['http://127.0.0.1:7070 serves', 'http://127.0.0.1:7070 serves'],
  ])('of %s say %s', (text, shown) => {
    expect(redacted(text)).toBe(shown);
  });

  it('are one JSON object a line, with time and level, redacted wherever the secret stands', () => {
    const { lines, log } = logger('info');
    log.records.info({ url: 'postgres://u:hunter2@h/d', nested: { key: `mneme_${'b'.repeat(43)}` } }, 'connected');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      msg: 'connected',
      url: 'postgres://[redacted]@h/d',
      nested: { key: 'mneme_[redacted]' },
    });
  });

  it('tell an error by its type and place, not by its message, which may quote content', () => {
    const { lines, log } = logger('error');
    log.error(new RangeError('the user said hunter2'), 'Somewhere');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', error: 'RangeError', context: 'Somewhere' });
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]).toContain('json-logger.spec');
  });

  it('leave out what is below their level, and Nest’s start-up chatter', () => {
    const { lines, log } = logger('info');
    log.debug('details', 'Somewhere');
    log.log('Mapped {/v1/teams, POST} route', 'RouterExplorer');
    log.log('kept', 'Somewhere');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['kept']);
  });
});
