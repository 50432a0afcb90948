import { type EvidenceSink, importEvidence, type ItemReceipt, mostRefusals } from './import-evidence.js';
import type { EvidenceItem, Reading } from './record.js';

/** Remembers what it is told, as the service does: the same again is a duplicate, and content of no letters is refused. */
class Memory implements EvidenceSink {
  readonly known = new Map<string, string>();
  readonly batches: number[] = [];
  answering = 0;

  constructor(private readonly failAfter = Infinity) {}

  async remember(items: readonly EvidenceItem[]): Promise<ItemReceipt[]> {
    this.answering += 1;
    expect(this.answering).toBe(1);
    await new Promise(setImmediate);
    this.answering -= 1;
    if (this.batches.length >= this.failAfter) throw new Error('the connection is gone');
    this.batches.push(items.length);
    return items.map((item) => this.receipt(JSON.stringify(item), item));
  }

  private receipt(text: string, { content }: EvidenceItem): ItemReceipt {
    if (content === '') return { outcome: 'refused', evidence_id: null, code: 'validation_failed', field: 'content' };
    const known = this.known.get(text);
    const id = known ?? `id-${this.known.size}`;
    this.known.set(text, id);
    return { outcome: known === undefined ? 'created' : 'duplicate', evidence_id: id, code: null, field: null };
  }
}

const item = (line: number, content = `content ${line}`): Reading => ({ line, item: { content } });
const lines = (count: number): Reading[] => Array.from({ length: count }, (_, index) => item(index + 1));

describe('an import', () => {
  it('of nothing sends nothing', async () => {
    const memory = new Memory();
    expect(await importEvidence([], memory)).toEqual({ created: 0, duplicates: 0, refused: 0, refusals: [] });
    expect(memory.batches).toEqual([]);
  });

  it('sends batches of at most 200, the next one after the answer', async () => {
    const memory = new Memory();
    const progress: number[] = [];
    const report = await importEvidence(lines(450), memory, { onProgress: ({ created }) => progress.push(created) });
    expect([report.created, memory.batches, progress]).toEqual([450, [200, 200, 50], [200, 400, 450]]);
  });

  it('sends smaller batches of large items', async () => {
    const memory = new Memory();
    await importEvidence(
      [1, 2, 3].map((line) => item(line, `${line}`.repeat(3 * 1024 * 1024))),
      memory,
    );
    expect(memory.batches).toEqual([1, 1, 1]);
  });

  it('reads no further than one batch ahead of what is answered', async () => {
    const memory = new Memory();
    let read = 0;
    const ahead: number[] = [];
    function* counted() {
      for (const line of lines(1_000)) {
        read += 1;
        yield line;
      }
    }
    await importEvidence(counted(), memory, { onProgress: ({ created }) => ahead.push(read - created) });
    expect(Math.max(...ahead)).toBeLessThanOrEqual(1);
  });

  it('names refused records by line, code and field, those of the file and those of the service in one order', async () => {
    const records: Reading[] = [item(1), item(2, ''), { line: 3, refused: { code: 'malformed_json', field: null } }, item(4)];
    expect(await importEvidence(records, new Memory(), { fieldName: () => 'text' })).toEqual({
      created: 2,
      duplicates: 0,
      refused: 2,
      refusals: [
        { line: 2, code: 'validation_failed', field: 'text' },
        { line: 3, code: 'malformed_json', field: null },
      ],
    });
  });

  it('counts every refusal but lists a bounded number', async () => {
    const records = Array.from({ length: mostRefusals + 5 }, (_, index): Reading => item(index + 1, ''));
    const { refused, refusals } = await importEvidence(records, new Memory());
    expect([refused, refusals.length]).toEqual([mostRefusals + 5, mostRefusals]);
  });

  it('that was interrupted is taken up by doing it again: nothing twice, nothing missing', async () => {
    const known = new Memory(1);
    await expect(importEvidence(lines(450), known)).rejects.toThrow('the connection is gone');
    const again = new Memory();
    for (const [text, id] of known.known) again.known.set(text, id);
    expect(await importEvidence(lines(450), again)).toMatchObject({ created: 250, duplicates: 200 });
    expect(await importEvidence(lines(450), again)).toMatchObject({ created: 0, duplicates: 450 });
  });

  it('tells which evidence an item became, new or known', async () => {
    const memory = new Memory();
    const told: [unknown, string][] = [];
    await importEvidence([item(1, 'a'), item(2, ''), item(3, 'a')], memory, {
      onRemembered: ({ content }, id) => told.push([content, id]),
    });
    expect(told).toEqual([
      ['a', 'id-0'],
      ['a', 'id-0'],
    ]);
  });
});
