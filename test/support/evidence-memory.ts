import type { CollectionStatistics } from '../../src/ranking/evidence/bm25.js';
import type {
  CandidateFacts,
  EvidenceReads,
  ExactMatch,
  ExactNames,
  Gate,
  Neighbourhood,
  NeighbourOf,
  Posting,
  QueryVector,
  About,
} from '../../src/ranking/evidence/evidence-reads.js';
import type { PostingsPlan } from '../../src/ranking/evidence/postings-plan.js';
import { evidenceAnchors, searchableText } from '../../src/ranking/evidence/searchable-text.js';
import { textSignals } from '../../src/ranking/evidence/text-signals.js';
import { nameWords } from '../../src/ranking/query/named-authors.js';
import { analyse, termFrequencies } from '../../src/ranking/text/analyse.js';
import { cosine } from './cosine.js';

/** Evidence as a test writes it: an id and a text, and whatever else matters to it. */
export interface EvidenceItem {
  readonly id: string;
  readonly content: string;
  readonly author?: string;
  readonly group?: string;
  readonly sequence?: number;
  readonly occurredAt?: Date;
  readonly validFrom?: Date;
  readonly validTo?: Date;
  readonly externalId?: string;
  readonly sourceKey?: string;
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>>;
  readonly vector?: ArrayLike<number>;
  readonly factSupport?: number;
  readonly sourceGroups?: number;
  /** False: quarantined, retracted, not current. */
  readonly eligible?: boolean;
}

interface Indexed extends EvidenceItem {
  readonly searchable: string;
  readonly length: number;
  readonly frequencies: ReadonlyMap<string, number>;
  readonly anchors: ReadonlySet<string>;
}

type Method = keyof EvidenceReads;

/** The reads of evidence over a list: what the SQL read models do, said as plainly as possible. */
export class EvidenceInMemory implements EvidenceReads {
  /** Methods in the order in which they were called. */
  readonly calls: Method[] = [];
  private readonly items: readonly Indexed[];

  constructor(
    items: readonly EvidenceItem[],
    private readonly options: {
      readonly language?: string;
      readonly contract?: string;
      readonly failing?: readonly Method[];
    } = {},
  ) {
    this.items = items.filter(({ eligible = true }) => eligible).map((item) => this.index(item));
  }

  authorsNamed(words: readonly string[]): Promise<readonly string[]> {
    const authors = new Set(this.items.flatMap(({ author }) => author ?? []));
    return this.answer('authorsNamed', () =>
      [...authors].filter((author) => nameWords(author).some((word) => words.includes(word))),
    );
  }

  statistics(terms: readonly string[]): Promise<CollectionStatistics> {
    return this.answer('statistics', () => ({
      documents: this.items.length,
      totalLength: this.items.reduce((sum, { length }) => sum + length, 0),
      documentFrequencies: new Map(terms.map((term) => [term, this.items.filter((item) => item.frequencies.has(term)).length])),
    }));
  }

  exact({ names, anchors }: ExactNames, gate: Gate, limit: number): Promise<readonly ExactMatch[]> {
    return this.answer('exact', () =>
      this.passing(gate)
        .map((item) => ({
          id: item.id,
          matches:
            namesOf(item).filter((name) => names.includes(name)).length +
            anchors.filter((anchor) => item.anchors.has(anchor)).length,
        }))
        .filter(({ matches }) => matches > 0)
        .sort((a, b) => b.matches - a.matches || byId(a, b))
        .slice(0, limit),
    );
  }

  postings({ gather, score, documentsPerTerm }: PostingsPlan, gate: Gate): Promise<readonly Posting[]> {
    return this.answer('postings', () => {
      const items = this.passing(gate);
      const gathered = gather.flatMap((term) =>
        items
          .filter(({ frequencies }) => frequencies.has(term))
          .sort((a, b) => (b.frequencies.get(term) ?? 0) / b.length - (a.frequencies.get(term) ?? 0) / a.length || byId(a, b))
          .slice(0, documentsPerTerm),
      );
      return [...new Set(gathered)].map((item) => posting(item, score));
    });
  }

  nearest(vector: QueryVector, gate: Gate, limit: number): Promise<readonly Neighbourhood[]> {
    return this.answer('nearest', () =>
      this.passing(gate)
        .flatMap((item) => this.cosineOf(item, vector) ?? [])
        .sort((a, b) => b.cosine - a.cosine || byId(a, b))
        .slice(0, limit),
    );
  }

  neighbours(ids: readonly string[], distance: number, gate: Gate): Promise<readonly NeighbourOf[]> {
    return this.answer('neighbours', () => {
      const passing = new Set(this.passing(gate));
      return ids.flatMap((of) => {
        const group = this.groupOf(of);
        const place = group.findIndex(({ id }) => id === of);
        return group.flatMap((item, index) => {
          const offset = index - place;
          return offset !== 0 && Math.abs(offset) <= distance && place >= 0 && passing.has(item)
            ? [{ of, id: item.id, offset }]
            : [];
        });
      });
    });
  }

  describe(ids: readonly string[], about: About): Promise<readonly CandidateFacts[]> {
    return this.answer('describe', () => this.items.filter(({ id }) => ids.includes(id)).map((item) => this.facts(item, about)));
  }

  private index(item: EvidenceItem): Indexed {
    const searchable = searchableText(item.content, item.metadata ?? {});
    const analysis = analyse(searchable, this.language);
    return {
      ...item,
      searchable,
      length: analysis.length,
      frequencies: termFrequencies(analysis),
      anchors: new Set(evidenceAnchors(namesOf(item), searchable)),
    };
  }

  private get language(): string {
    return this.options.language ?? 'english';
  }

  private answer<T>(method: Method, make: () => T): Promise<T> {
    this.calls.push(method);
    return this.options.failing?.includes(method) ? Promise.reject(new Error(`${method} fails`)) : Promise.resolve(make());
  }

  private passing({ anchors, authors = [], during = [] }: Gate): Indexed[] {
    return this.items.filter(
      (item) =>
        anchors.every((anchor) => item.anchors.has(anchor)) &&
        (authors.length === 0 || authors.includes(item.author ?? '')) &&
        (during.length === 0 || during.some((interval) => happenedDuring(item, interval))),
    );
  }

  private groupOf(id: string): Indexed[] {
    const item = this.items.find((candidate) => candidate.id === id);
    if (item?.group === undefined || item.sequence === undefined) return [];
    return this.items
      .filter(({ group, sequence }) => group === item.group && sequence !== undefined)
      .sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0) || byId(a, b));
  }

  private cosineOf({ id, vector }: Indexed, asked: QueryVector): Neighbourhood | undefined {
    const comparable = asked.contract === (this.options.contract ?? 'test') && vector;
    return comparable ? { id, cosine: cosine(vector, asked.values) } : undefined;
  }

  private facts(item: Indexed, { terms, vector, anchors, names, contentLimit }: About): CandidateFacts {
    return {
      ...posting(item, terms),
      content: Array.from(item.searchable).slice(0, contentLimit).join(''),
      contextBytes: Buffer.byteLength(item.content),
      author: item.author ?? null,
      group: item.group ?? null,
      occurredAt: item.occurredAt ?? null,
      validFrom: item.validFrom ?? null,
      validTo: item.validTo ?? null,
      cosine: (vector && this.cosineOf(item, vector)?.cosine) ?? null,
      anchors: anchors.filter((anchor) => item.anchors.has(anchor)),
      isNamed: namesOf(item).some((name) => names.includes(name)),
      ...textSignals(item.content, this.language),
      factSupport: item.factSupport ?? 0,
      sourceGroups: item.sourceGroups ?? 0,
    };
  }
}

const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

const namesOf = ({ id, externalId, sourceKey }: EvidenceItem) => [id, externalId, sourceKey].flatMap((name) => name ?? []);

const posting = ({ id, length, frequencies }: Indexed, terms: readonly string[]): Posting => ({
  id,
  length,
  frequencies: new Map(terms.flatMap((term) => (frequencies.has(term) ? [[term, frequencies.get(term) ?? 0] as const] : []))),
});

function happenedDuring({ occurredAt, validFrom, validTo }: EvidenceItem, { from, to }: { from: number; to: number }): boolean {
  if (validFrom || validTo) return (validFrom?.getTime() ?? -Infinity) < to && (validTo?.getTime() ?? Infinity) > from;
  return occurredAt !== undefined && occurredAt.getTime() >= from && occurredAt.getTime() < to;
}
