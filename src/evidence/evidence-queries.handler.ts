import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import {
  type EvidenceDetails,
  type EvidenceFilter,
  getEvidence,
  getSource,
  latestRevisions,
  listEvidence,
  listSources,
  type PublishedRevisionRow,
  type SourceDetails,
  type SourceFilter,
} from '../../projections/evidence/evidence-queries.js';
import { Database } from '../database/database.js';
import { CommandRefused } from '../event-log/execute.js';

export class GetEvidence extends Query<EvidenceDetails> {
  constructor(
    readonly team: string,
    readonly evidence: string,
    /** The moment that eligibility is told for. */
    readonly validAt: Date,
  ) {
    super();
  }
}

@QueryHandler(GetEvidence)
export class GetEvidenceHandler implements IQueryHandler<GetEvidence> {
  constructor(private readonly database: Database) {}

  async execute(query: GetEvidence): Promise<EvidenceDetails> {
    const found = await this.database.asTeam(query.team, (queries) => getEvidence(queries, query), { snapshot: true });
    if (!found) throw new CommandRefused('not_found');
    return found;
  }
}

export class ListEvidence extends Query<EvidenceDetails[]> {
  constructor(readonly filter: EvidenceFilter) {
    super();
  }
}

@QueryHandler(ListEvidence)
export class ListEvidenceHandler implements IQueryHandler<ListEvidence> {
  constructor(private readonly database: Database) {}

  execute({ filter }: ListEvidence): Promise<EvidenceDetails[]> {
    return this.database.asTeam(filter.team, (queries) => listEvidence(queries, filter), { snapshot: true });
  }
}

/** Publications that a source shows; its trace shows all. */
export const shownRevisions = 100;

export interface SourceWithRevisions {
  readonly source: SourceDetails;
  readonly revisions: readonly PublishedRevisionRow[];
}

export class GetSource extends Query<SourceWithRevisions> {
  constructor(
    readonly team: string,
    readonly source: string,
  ) {
    super();
  }
}

@QueryHandler(GetSource)
export class GetSourceHandler implements IQueryHandler<GetSource> {
  constructor(private readonly database: Database) {}

  async execute({ team, source: id }: GetSource): Promise<SourceWithRevisions> {
    return this.database.asTeam(
      team,
      async (queries) => {
        const source = await getSource(queries, { team, source: id });
        if (!source) throw new CommandRefused('not_found');
        return { source, revisions: await latestRevisions(queries, { team, source: id, limit: shownRevisions }) };
      },
      { snapshot: true },
    );
  }
}

export class ListSources extends Query<SourceDetails[]> {
  constructor(readonly filter: SourceFilter) {
    super();
  }
}

@QueryHandler(ListSources)
export class ListSourcesHandler implements IQueryHandler<ListSources> {
  constructor(private readonly database: Database) {}

  execute({ filter }: ListSources): Promise<SourceDetails[]> {
    return this.database.asTeam(filter.team, (queries) => listSources(queries, filter), { snapshot: true });
  }
}
