import { type EvidenceItem, type Piece, type Problem, type Reader, type Reading, type Refusal } from './record.js';

/** What the service did with an item. */
export interface ItemReceipt {
  readonly outcome: 'created' | 'duplicate' | 'refused';
  readonly evidence_id: string | null;
  readonly code: string | null;
  readonly field: string | null;
}

/** Where evidence goes. */
export interface EvidenceSink {
  /** @returns a receipt for each item, in their order */
  remember(items: readonly EvidenceItem[]): Promise<readonly ItemReceipt[]>;
}

export interface ImportReport {
  readonly created: number;
  readonly duplicates: number;
  readonly refused: number;
  /** The first of them, at most `mostRefusals`. */
  readonly refusals: readonly ({ readonly line: number } & Problem)[];
}

/** Items of one request, by the API. */
const mostItems = 200;
/** Of one request, by far below what the service takes (16 MB); bytes of JSON. */
const mostBytes = 4 * 1024 * 1024;
/** Refusals that a report lists; a file of another format has as many as lines. */
export const mostRefusals = 1_000;

export interface ImportOptions {
  /** After each answer of the service. */
  readonly onProgress?: (report: ImportReport) => void;
  /** For each item that the service has, new or known. */
  readonly onRemembered?: (item: EvidenceItem, evidenceId: string) => void;
  /** The file's name of a field that the service refuses. */
  readonly fieldName?: (field: string) => string;
}

export async function* readings(pieces: AsyncIterable<Piece>, reader: Reader): AsyncGenerator<Reading> {
  for await (const piece of pieces) yield 'refused' in piece ? piece : { line: piece.line, ...reader(piece.text, piece.line) };
}

/**
 * Sends records on, a batch at a time: the next is read when the service has answered, so that memory holds one batch, however
 * long the file and however slow the service.
 *
 * What evidence is makes it the same again (its owner, scope, source, group, sequence, author, time and content), so an import
 * that was interrupted is repeated from the start: what is there already answers as a duplicate.
 */
export async function importEvidence(
  records: AsyncIterable<Reading> | Iterable<Reading>,
  sink: EvidenceSink,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const tally = new Tally(options.fieldName);
  for await (const batch of batches(records, tally)) {
    const receipts = await sink.remember(batch.map(({ item }) => item));
    for (const [index, { line, item }] of batch.entries()) {
      const receipt = receipts[index];
      if (!receipt) throw new Error('the service answers with a receipt for each item');
      tally.add(line, receipt);
      if (receipt.evidence_id !== null) options.onRemembered?.(item, receipt.evidence_id);
    }
    options.onProgress?.(tally.report());
  }
  return tally.report();
}

type Good = Exclude<Reading, Refusal>;

async function* batches(records: AsyncIterable<Reading> | Iterable<Reading>, tally: Tally): AsyncGenerator<Good[]> {
  let batch: Good[] = [];
  let bytes = 0;
  for await (const record of records) {
    if ('refused' in record) {
      tally.refuse(record.line, record.refused);
      continue;
    }
    const size = Buffer.byteLength(JSON.stringify(record.item));
    if (batch.length === mostItems || (batch.length > 0 && bytes + size > mostBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(record);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

class Tally {
  private created = 0;
  private duplicates = 0;
  private refused = 0;
  private readonly refusals: ({ line: number } & Problem)[] = [];

  constructor(private readonly fieldName: (field: string) => string = (field) => field) {}

  add(line: number, { outcome, code, field }: ItemReceipt): void {
    if (outcome === 'created') this.created += 1;
    else if (outcome === 'duplicate') this.duplicates += 1;
    else this.refuse(line, { code: code ?? 'unknown', field: field === null ? null : this.fieldName(field) });
  }

  refuse(line: number, { code, field }: Problem): void {
    this.refused += 1;
    if (this.refusals.length < mostRefusals) this.refusals.push({ line, code, field });
  }

  report(): ImportReport {
    const { created, duplicates, refused, refusals } = this;
    return { created, duplicates, refused, refusals: refusals.toSorted((one, other) => one.line - other.line) };
  }
}
