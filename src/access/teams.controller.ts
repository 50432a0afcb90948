import { Body, Controller, Get, Patch, Post, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiTags } from '@nestjs/swagger';
import type { TeamRow } from '../../projections/access/access.projection.js';
import { deriveId } from '../event-log/ids.js';
import { Actor, OperatorsAllowed, RequireScope } from '../http/authentication.js';
import { Command, type HttpCommand } from '../http/command-context.js';
import { HttpProblem } from '../http/http-problem.js';
import { type Answer, Operation } from '../http/openapi.js';
import { defaultLimit, ListQuery, pageOf, parseCursor, positionPlace } from '../http/paging.js';
import { ReadsFrom } from '../http/read-models.js';
import { Receipt } from '../http/receipts.js';
import { Id } from '../http/validation/id.js';
import { ListTeams } from './access-queries.js';
import { TeamPage, TeamReceipt, type TeamView } from './answers.js';
import { namedTeam } from './named-team.js';
import { CreateTeamBody, namedSettings, SettingsFields } from './requests.js';
import { ChangeTeam } from './team-commands.js';

@RequireScope('admin')
@OperatorsAllowed()
@ApiTags('access')
@Controller('v1/teams')
export class TeamsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post()
  @Operation({ id: 'create_team', summary: 'Creates a team. Operators only.', kind: 'write', status: 201, returns: TeamReceipt })
  async create(
    @Actor() actor: Actor,
    @Command() request: HttpCommand,
    @Body() { name, settings }: CreateTeamBody,
  ): Promise<Receipt<Answer<TeamReceipt>>> {
    if (!actor.operator) throw new HttpProblem(403, 'operator_required', { detail: 'Only operators create teams.' });
    const team = deriveId(request.context.commandId, 'team');
    const order = { type: 'CreateTeam', team, name, settings: namedSettings(settings) } as const;
    return new Receipt({ team_id: team }, await this.commands.execute(new ChangeTeam(team, order, request)));
  }

  @Get()
  @ReadsFrom('access')
  @Operation({
    id: 'list_teams',
    summary: 'Teams in the order they were created: all for operators, else the key’s own.',
    kind: 'read',
    returns: TeamPage,
  })
  async list(@Actor() actor: Actor, @Query() { limit = defaultLimit, cursor }: ListQuery): Promise<Answer<TeamPage>> {
    const after = parseCursor(cursor, positionPlace);
    const rows = await this.queries.execute(new ListTeams(actor.team, { after, limit: limit + 1 }));
    return pageOf(rows, limit, ({ created_position }) => [created_position], viewOf);
  }

  @Patch(':id/settings')
  @Operation({
    id: 'change_team_settings',
    summary: 'Changes the settings that are named.',
    kind: 'write',
    returns: TeamReceipt,
    problems: { 404: 'No such team: not_found.' },
  })
  async changeSettings(
    @Actor() actor: Actor,
    @Command() request: HttpCommand,
    @Id() id: string,
    @Body() body: SettingsFields,
  ): Promise<Receipt<Answer<TeamReceipt>>> {
    const team = namedTeam(actor, id);
    const order = { type: 'ChangeTeamSettings', settings: namedSettings(body) } as const;
    return new Receipt({ team_id: team }, await this.commands.execute(new ChangeTeam(team, order, request)));
  }
}

const viewOf = ({
  team_id,
  name,
  review,
  language,
  recording,
  execution_retention_days,
  created_at,
}: TeamRow): Answer<TeamView> => ({
  team_id,
  name,
  settings: { review, language, recording, execution_retention_days },
  created_at: created_at.toISOString(),
});
