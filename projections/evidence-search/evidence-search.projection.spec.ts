import fc from 'fast-check';
import type { DomainEvent } from '../../src/event-log/domain-event.js';
import { recorded } from '../../test/support/recorded.js';
import type { Row, Table } from '../engine/projection.js';
import { Coverage, RowSet } from '../engine/row-set.js';
import { shapeOf } from '../engine/table-shape.js';
import { evidenceSearchProjection as projection } from './evidence-search.projection.js';

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const texts = ['Refunds take five days.', 'refund PROJ-123', '退款需要五个工作日', 'the', 'Ünder the bridge, release.yml', '🧠'];
const authors = ['Maren Quist', 'maren', 'Ines', null];

/** Only what the projection reads. */
const of = (type: string, data: object): DomainEvent => ({ type, ...data });
const remembered = (number: number, text = number, author = number) =>
  of('EvidenceRemembered', {
    evidence_id: id(number),
    sealed: {
      content: texts[text % texts.length],
      author: authors[author % authors.length],
      external_id: `msg-${number}`,
      source_key: null,
      metadata: { commit: '2e4b0cc' },
    },
  });
const aliased = (number: number) =>
  of('EvidenceAliased', { evidence_id: id(number), sealed: { external_id: `PROJ-${1000 + number}` } });
const erased = (number: number) => of('EvidenceErased', { evidence_id: id(number) });
const speaks = (language: string) => of('TeamSettingsChanged', { settings: { language } });

/** All rows by table after these events, as the engine comes to them: each event sees what it asked for and nothing else. */
function rowsAfter(events: readonly DomainEvent[]): Map<string, Row[]> {
  const rows = new RowSet();
  const known = new Map<string, Map<string, Row>>();
  events.forEach((data, index) => {
    const event = recorded(data, BigInt(index));
    const coverage = new Coverage();
    for (const lookup of projection.load([event])) coverage.add(lookup);
    for (const lookup of projection.follow?.(event, rows.view(coverage)) ?? []) coverage.add(lookup);
    for (const change of projection.changes(event, rows.view(coverage))) {
      const shape = shapeOf(change.table);
      const table = rowsOf(known, change.table);
      if (change.op === 'put') {
        const row = shape.row(change.row);
        rows.put(shape, row);
        table.set(shape.id(row), row);
        continue;
      }
      const where = change.op === 'remove' ? change.key : change.where;
      rows.erase(shape, shape.where(where));
      for (const [key, row] of table) if (Object.entries(where).every(([name, value]) => row[name] === value)) table.delete(key);
    }
  });
  return new Map([...known].map(([name, table]) => [name, [...table.values()].sort(shapeOf(tableNamed(name)).byKey)]));
}

function rowsOf(known: Map<string, Map<string, Row>>, { name }: Table): Map<string, Row> {
  let table = known.get(name);
  if (!table) known.set(name, (table = new Map<string, Row>()));
  return table;
}

function tableNamed(name: string): Table {
  const found = projection.tables.find((table) => table.name === name);
  if (!found) throw new Error(`no table ${name}`);
  return found;
}

const column = (rows: Map<string, Row[]>, table: string, name: string) => (rows.get(table) ?? []).map((row) => row[name]);

describe('what evidence is found by', () => {
  it('is its terms, its identifiers and the names it is called by', () => {
    const rows = rowsAfter([remembered(1, 1, 0)]);
    expect(column(rows, 'search_postings', 'term')).toEqual(expect.arrayContaining(['refund', 'proj-123', '2e4b0cc']));
    expect(column(rows, 'search_anchors', 'anchor')).toEqual(expect.arrayContaining(['proj-123', '2e4b0cc', 'msg-1']));
    expect(column(rows, 'search_author_words', 'word')).toEqual(['maren', 'quist']);
    expect(rows.get('search_collections')).toMatchObject([{ documents: 1, language: 'english' }]);
  });

  it('grows by a handle that is added later', () => {
    const anchors = column(rowsAfter([remembered(1), aliased(1)]), 'search_anchors', 'anchor');
    expect(anchors).toContain('proj-1001');
  });

  it('is indexed by the language its team has when it is remembered', () => {
    const sealed = { content: 'Die Häuser', author: null, external_id: null, source_key: null, metadata: {} };
    const german = of('EvidenceRemembered', { evidence_id: id(7), sealed });
    expect(column(rowsAfter([speaks('german'), german]), 'search_postings', 'term')).toEqual(['haus']);
    expect(column(rowsAfter([german]), 'search_postings', 'term')).not.toEqual(['haus']);
  });

  it('of what was erased is nothing at all, not even a count of its words', () => {
    const rows = rowsAfter([remembered(1, 4, 0), erased(1)]);
    for (const [name, left] of rows) expect({ name, left }).toEqual({ name, left: [] });
  });

  it('is nothing for what is redacted already', () => {
    const gone = of('EvidenceRemembered', { evidence_id: id(1), sealed: { redacted: true } });
    expect(rowsAfter([gone, aliased(1), erased(1)]).size).toBe(0);
  });
});

describe('after any events', () => {
  const number = fc.integer({ min: 0, max: 5 });
  const event = fc.oneof(
    fc.tuple(number, number, number).map(([one, text, author]) => remembered(one, text, author)),
    number.map(aliased),
    number.map(erased),
    fc.constantFrom('english', 'german').map(speaks),
  );

  it('statistics say what counting the postings says', () =>
    fc.assert(
      fc.property(fc.array(event, { maxLength: 25 }), (events) => {
        const rows = rowsAfter(events);
        const documents = rows.get('search_documents') ?? [];
        const frequencies = new Map<string, number>();
        for (const term of column(rows, 'search_postings', 'term') as string[])
          frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
        expect(new Map((rows.get('search_terms') ?? []).map((row) => [row.term, row.documents]))).toEqual(frequencies);
        const [collection] = rows.get('search_collections') ?? [];
        expect(collection?.documents ?? 0).toBe(documents.length);
        expect(collection?.total_length ?? 0n).toBe(documents.reduce((sum, row) => sum + BigInt(row.length as number), 0n));
      }),
    ));

  it('applying one a second time changes nothing', () =>
    fc.assert(
      fc.property(fc.array(event, { maxLength: 15 }), (events) => {
        // Positions differ between the two, and what was erased is remembered again under another id, so repeat what is last.
        const once = rowsAfter(events);
        const last = events.at(-1);
        if (!last || last.type === 'EvidenceErased') return;
        expect(rowsAfter([...events, last])).toEqual(once);
      }),
    ));
});
