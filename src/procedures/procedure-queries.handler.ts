import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { getExecution } from '../../projections/judged-counters/execution-queries.js';
import type { ExecutionRow } from '../../projections/judged-counters/judged-counters.projection.js';
import {
  getProcedure,
  listProcedures,
  type ProcedureDetails,
  type ProcedureFilter,
} from '../../projections/procedures/procedure-queries.js';
import { getProcedureAsOf, listProceduresAsOf } from '../../projections/procedures/procedure-queries-as-of.js';
import { Database } from '../database/database.js';
import { CommandRefused } from '../event-log/execute.js';
import type { AsOf } from '../trace/as-of.js';

export class GetProcedure extends Query<ProcedureDetails> {
  constructor(
    readonly team: string,
    readonly procedure: string,
    readonly asOf?: AsOf,
  ) {
    super();
  }
}

@QueryHandler(GetProcedure)
export class GetProcedureHandler implements IQueryHandler<GetProcedure> {
  constructor(private readonly database: Database) {}

  async execute({ team, procedure, asOf }: GetProcedure): Promise<ProcedureDetails> {
    const which = { team, procedure };
    const found = await this.database.asTeam(
      team,
      (queries) => (asOf ? getProcedureAsOf(queries, which, asOf.position) : getProcedure(queries, which)),
      { snapshot: true },
    );
    if (!found) throw new CommandRefused('not_found');
    return found;
  }
}

export class ListProcedures extends Query<ProcedureDetails[]> {
  constructor(
    readonly filter: ProcedureFilter,
    readonly asOf?: AsOf,
  ) {
    super();
  }
}

@QueryHandler(ListProcedures)
export class ListProceduresHandler implements IQueryHandler<ListProcedures> {
  constructor(private readonly database: Database) {}

  execute({ filter, asOf }: ListProcedures): Promise<ProcedureDetails[]> {
    return this.database.asTeam(
      filter.team,
      (queries) => (asOf ? listProceduresAsOf(queries, filter, asOf.position) : listProcedures(queries, filter)),
      { snapshot: true },
    );
  }
}

export class GetExecution extends Query<Omit<ExecutionRow, 'team_id'>> {
  constructor(
    readonly team: string,
    readonly execution: string,
  ) {
    super();
  }
}

@QueryHandler(GetExecution)
export class GetExecutionHandler implements IQueryHandler<GetExecution> {
  constructor(private readonly database: Database) {}

  /** Refuses a pruned run as gone: its verdicts are. */
  async execute(query: GetExecution): Promise<Omit<ExecutionRow, 'team_id'>> {
    const found = await this.database.asTeam(query.team, (queries) => getExecution(queries, query), { snapshot: true });
    if (!found) throw new CommandRefused('not_found');
    if (found.pruned) throw new CommandRefused('execution_pruned');
    return found;
  }
}
