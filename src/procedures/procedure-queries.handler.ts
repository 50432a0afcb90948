import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { getExecution } from '../../projections/judged-counters/execution-queries.js';
import type { ExecutionRow } from '../../projections/judged-counters/judged-counters.projection.js';
import {
  getProcedure,
  listProcedures,
  type ProcedureDetails,
  type ProcedureFilter,
} from '../../projections/procedures/procedure-queries.js';
import { Database } from '../database/database.js';
import { CommandRefused } from '../event-log/execute.js';

export class GetProcedure extends Query<ProcedureDetails> {
  constructor(
    readonly team: string,
    readonly procedure: string,
  ) {
    super();
  }
}

@QueryHandler(GetProcedure)
export class GetProcedureHandler implements IQueryHandler<GetProcedure> {
  constructor(private readonly database: Database) {}

  async execute(query: GetProcedure): Promise<ProcedureDetails> {
    const found = await this.database.asTeam(query.team, (queries) => getProcedure(queries, query), { snapshot: true });
    if (!found) throw new CommandRefused('not_found');
    return found;
  }
}

export class ListProcedures extends Query<ProcedureDetails[]> {
  constructor(readonly filter: ProcedureFilter) {
    super();
  }
}

@QueryHandler(ListProcedures)
export class ListProceduresHandler implements IQueryHandler<ListProcedures> {
  constructor(private readonly database: Database) {}

  execute({ filter }: ListProcedures): Promise<ProcedureDetails[]> {
    return this.database.asTeam(filter.team, (queries) => listProcedures(queries, filter), { snapshot: true });
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
