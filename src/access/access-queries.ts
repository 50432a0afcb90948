import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { ApiKeyRow, ProfileRow, TeamRow } from '../../projections/access/access.projection.js';
import { apiKeysAfter, profilesAfter, type Slice, teamExists, teamsAfter } from '../../projections/access/access.queries.js';
import { Database, type Queries } from '../database/database.js';
import { CommandRefused } from '../event-log/execute.js';
import { systemTeam, systemTeamId } from '../event-log/stream-name.js';

/** Teams in the order they were created. */
export class ListTeams extends Query<TeamRow[]> {
  /** @param team that one only; undefined for all */
  constructor(
    readonly team: string | undefined,
    readonly slice: Slice,
  ) {
    super();
  }
}

export class ListProfiles extends Query<ProfileRow[]> {
  constructor(
    readonly team: string,
    readonly slice: Slice,
  ) {
    super();
  }
}

export class ListKeys extends Query<ApiKeyRow[]> {
  /** @param team UUID, or `system` for operator keys */
  constructor(
    readonly team: string,
    readonly slice: Slice,
  ) {
    super();
  }
}

@QueryHandler(ListTeams)
export class ListTeamsHandler implements IQueryHandler<ListTeams> {
  constructor(private readonly database: Database) {}

  execute({ team, slice }: ListTeams): Promise<TeamRow[]> {
    const read = (queries: Queries) => teamsAfter(queries, team, slice);
    return team === undefined ? this.database.as('mneme_system', read) : this.database.asTeam(team, read);
  }
}

@QueryHandler(ListProfiles)
export class ListProfilesHandler implements IQueryHandler<ListProfiles> {
  constructor(private readonly database: Database) {}

  execute({ team, slice }: ListProfiles): Promise<ProfileRow[]> {
    return inTeam(this.database, team, (queries) => profilesAfter(queries, team, slice));
  }
}

@QueryHandler(ListKeys)
export class ListKeysHandler implements IQueryHandler<ListKeys> {
  constructor(private readonly database: Database) {}

  execute({ team, slice }: ListKeys): Promise<ApiKeyRow[]> {
    if (team === systemTeam) {
      return this.database.as('mneme_system', (queries) => apiKeysAfter(queries, systemTeamId, slice));
    }
    return inTeam(this.database, team, (queries) => apiKeysAfter(queries, team, slice));
  }
}

/** @throws CommandRefused `not_found` when there is no such team */
const inTeam = <T>(database: Database, team: string, read: (queries: Queries) => Promise<T>): Promise<T> =>
  database.asTeam(team, async (queries) => {
    if (!(await teamExists(queries, team))) throw new CommandRefused('not_found');
    return read(queries);
  });
