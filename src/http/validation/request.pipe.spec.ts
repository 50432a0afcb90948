import 'reflect-metadata';
import { HttpProblem } from '../http-problem.js';
import {
  CodePoints,
  Flag,
  Integer,
  JsonObject,
  Nested,
  Nullable,
  OneOf,
  Optional,
  Share,
  Slug,
  Timestamp,
  Uuid,
} from './fields.js';
import { validated } from './request.pipe.js';

class Step {
  @CodePoints(1, 5)
  name!: string;

  @Optional()
  @Share()
  weight?: number;
}

class Plan {
  @CodePoints(1, 4)
  title!: string;

  @Optional()
  @JsonObject(200)
  graph?: Record<string, unknown>;

  @Optional()
  @Nested(() => Step)
  first?: Step;

  @Optional()
  @Uuid()
  id?: string;

  @Optional()
  @Uuid({ list: { max: 2 } })
  ids?: string[];

  @Optional()
  @Timestamp()
  at?: string;

  @Optional()
  @Slug()
  scope: string = 'default';

  @Optional()
  @OneOf(['red', 'green'], { list: { min: 1, max: 2 } })
  colours?: string[];

  @Nullable()
  @Flag()
  worked?: boolean | null;

  @Optional()
  @Integer(1, 200)
  limit?: number;
}

const plan = (more: object) => validated(Plan, { title: 'ok', ...more }, 'json');

async function problem(value: unknown, source: 'json' | 'query' = 'json') {
  try {
    await validated(Plan, value, source);
  } catch (error) {
    if (error instanceof HttpProblem) return { status: error.status, code: error.code, ...error.options };
    throw error;
  }
  throw new Error('it was accepted');
}

const field = async (value: object) => {
  const { status, code, fields } = await problem({ title: 'ok', ...value });
  expect({ status, code }).toEqual({ status: 422, code: 'validation_failed' });
  return (fields ?? []).map((broken) => `${broken.field} ${broken.rule}`);
};

describe('a request body', () => {
  it('becomes an instance of its class, with defaults for what is left out', async () => {
    const body = await plan({ first: { name: 'a', weight: 0.5 } });
    expect(body).toBeInstanceOf(Plan);
    expect(body.first).toBeInstanceOf(Step);
    expect(body).toMatchObject({ title: 'ok', scope: 'default', first: { name: 'a', weight: 0.5 } });
  });

  it.each([[[]], ['text'], [1], [null]])('that is no object is malformed: %j', async (body) => {
    expect(await problem(body)).toMatchObject({ status: 400, code: 'body_not_an_object' });
  });

  it('takes null for left out, except where null means something', async () => {
    const body = await plan({ limit: null, scope: null, worked: null });
    expect(body).toMatchObject({ scope: 'default', worked: null });
    expect(body.limit).toBeUndefined();
  });

  it('counts code points, not UTF-16 units', async () => {
    expect((await validated(Plan, { title: '🙂🙂🙂🙂' }, 'json')).title).toBe('🙂🙂🙂🙂');
    expect((await problem({ title: '🙂🙂🙂🙂🙂' })).fields).toMatchObject([{ field: 'title', rule: 'code_points' }]);
    for (const blank of ['', ' ', '\n\t', '\u3000'])
      expect((await problem({ title: blank })).fields).toMatchObject([{ field: 'title', rule: 'code_points' }]);
  });

  it('normalises ids and times to one spelling', async () => {
    const id = 'ABCDEF00-1234-4ABC-8DEF-0123456789AB';
    const body = await plan({ id, ids: [id], at: '2026-01-01T01:00:00+01:00' });
    expect(body).toMatchObject({ id: id.toLowerCase(), ids: [id.toLowerCase()], at: '2026-01-01T00:00:00.000Z' });
  });

  it('names each field that breaks a rule, and never its value', async () => {
    const secret = 'hunter2-hunter2';
    const answer = await problem({
      title: secret,
      id: secret,
      at: secret,
      scope: `${secret}!`,
      colours: [secret],
      limit: secret,
    });
    expect(answer.fields?.map((broken) => `${broken.field} ${broken.rule}`)).toEqual([
      'title code_points',
      'id uuid',
      'at timestamp',
      'scope slug',
      'colours one_of',
      'limit integer',
    ]);
    expect(JSON.stringify(answer)).not.toContain('hunter2');
  });

  it('names fields inside objects', async () => {
    expect(await field({ first: { name: 'too long' } })).toEqual(['first.name code_points']);
    expect(await field({ first: { name: 'ok', weight: 2 } })).toEqual(['first.weight share']);
    expect(await field({ first: {} })).toEqual(['first.name code_points']);
  });

  it('refuses what has the wrong shape where an object or a list belongs', async () => {
    for (const wrong of ['text', 1, true, []]) expect((await field({ first: wrong }))[0]).toMatch(/^first /);
    for (const wrong of ['text', 1, [], true]) expect((await field({ graph: wrong }))[0]).toMatch(/^graph json_object/);
    for (const wrong of ['red', {}, [], ['red', 'red', 'red'], [1], [null]])
      expect((await field({ colours: wrong }))[0]).toMatch(/^colours/);
  });

  it.each([Number.MAX_SAFE_INTEGER + 1, 1.5, 0, 201, '5', true])(
    'refuses %j where a number from 1 to 200 belongs',
    async (limit) => {
      expect(await field({ limit })).toEqual(['limit integer']);
    },
  );

  it('names unknown fields, wherever they are, before anything else', async () => {
    expect(await problem({ titel: 'x', first: { name: 'ok', wieght: 1 } })).toMatchObject({
      status: 400,
      code: 'unknown_field',
      fields: [{ field: 'titel' }, { field: 'first.wieght' }],
    });
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', 'then'])('does not overlook the unknown field %s', async (name) => {
    expect(await problem({ title: 'ok', [name]: 'x' })).toMatchObject({ code: 'unknown_field', field: name });
    expect(await problem({ title: 'ok', first: { name: 'ok', [name]: 'x' } })).toMatchObject({ field: `first.${name}` });
  });

  it('does not repeat a field name that is no plain name', async () => {
    const answer = await problem({ title: 'ok', '<script>alert(1)</script>': 1, ['x'.repeat(500)]: 1 });
    expect(answer.fields).toEqual([{ field: '(not shown)', rule: 'unknown', message: 'there is no such field' }]);
  });

  it('names at most 20 of many unknown fields', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field_${index}`, 1]));
    expect((await problem(many)).fields).toHaveLength(20);
  });
});

describe('a JSON object in a request', () => {
  it('keeps keys that objects have anyway', async () => {
    const graph = { constructor: 'x', toString: { valueOf: 1 }, hasOwnProperty: null, then: [], length: 3 };
    expect((await plan({ graph })).graph).toEqual(graph);
  });

  it('is measured as it is written, in bytes', async () => {
    const bytes = (length: number) => ({ graph: { text: 'ü'.repeat((length - 11) / 2) } });
    expect(Buffer.byteLength(JSON.stringify(bytes(201).graph))).toBe(201);
    expect(await field(bytes(201))).toEqual(['graph json_object']);
    expect((await plan(bytes(199))).graph).toEqual(bytes(199).graph);
  });
});

describe('a request as a whole', () => {
  const parsed = (text: string) => problem(JSON.parse(`{"title":"ok",${text}}`) as unknown);

  it.each([
    ['"graph":{"a":["x\\u0000"]}', 'text'],
    ['"graph":{"a":{"b":"\\ud800"}}', 'text'],
    ['"graph":{"a":"\\udc00\\ud800"}', 'text'],
    ['"graph":{"\\u0000":1}', 'key'],
    ['"graph":{"\\ud800":1}', 'key'],
    ['"graph":{"a":{"__proto__":{"admin":true}}}', 'key'],
    ['"graph":{"a":1e999}', 'number'],
    [`"graph":${'{"a":'.repeat(64)}1${'}'.repeat(64)}`, 'nesting'],
  ])('is refused for %s', async (text, rule) => {
    expect(await parsed(text)).toMatchObject({ status: 422, code: 'validation_failed', field: 'graph', fields: [{ rule }] });
  });

  it('is refused for nesting that would exhaust a stack', async () => {
    expect(await parsed(`"graph":${'['.repeat(200_000)}${']'.repeat(200_000)}`)).toMatchObject({ fields: [{ rule: 'nesting' }] });
  });

  it('may hold whole surrogate pairs and deep plans', async () => {
    const graph = JSON.parse(`${'{"a":'.repeat(30)}"😀"${'}'.repeat(30)}`) as object;
    expect((await plan({ graph })).graph).toEqual(graph);
  });
});

describe('a query', () => {
  it('reads numbers and flags, and one value as a list of one', async () => {
    const query = await validated(Plan, { title: '5', limit: '50', worked: 'true', colours: 'red' }, 'query');
    expect(query).toMatchObject({ title: '5', limit: 50, worked: true, colours: ['red'] });
  });

  it.each(['', ' ', '5x', '1e2', '0x10', 'NaN', '٣'])('does not take %j for a number', async (limit) => {
    expect((await problem({ title: 'ok', limit }, 'query')).fields).toMatchObject([{ field: 'limit', rule: 'integer' }]);
  });

  it('that names a field twice is refused where one value belongs', async () => {
    expect((await problem({ title: 'ok', limit: ['1', '2'] }, 'query')).fields).toMatchObject([{ field: 'limit' }]);
  });
});
