import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiTags } from '@nestjs/swagger';
import type { ProfileRow } from '../../projections/access/access.projection.js';
import { deriveId } from '../event-log/ids.js';
import { Actor, OperatorsAllowed, RequireScope } from '../http/authentication.js';
import { Command, type HttpCommand } from '../http/command-context.js';
import { type Answer, Operation } from '../http/openapi.js';
import { defaultLimit, pageOf, parseCursor, positionPlace } from '../http/paging.js';
import { ReadsFrom } from '../http/read-models.js';
import { Receipt } from '../http/receipts.js';
import { Id } from '../http/validation/id.js';
import { ListProfiles } from './access-queries.js';
import { ProfilePage, ProfileReceipt, type ProfileView } from './answers.js';
import { namedTeam } from './named-team.js';
import { CreateProfileBody, TeamBody, TeamListQuery } from './requests.js';
import { ChangeTeam } from './team-commands.js';

@RequireScope('admin')
@OperatorsAllowed()
@ApiTags('access')
@Controller('v1/profiles')
export class ProfilesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post()
  @Operation({
    id: 'create_profile',
    summary: 'Creates a profile: an author inside a team, a person, an agent or a service.',
    kind: 'write',
    status: 201,
    returns: ProfileReceipt,
    problems: { 404: 'No such team: not_found.' },
  })
  async create(
    @Actor() actor: Actor,
    @Command() request: HttpCommand,
    @Body() { team_id, name }: CreateProfileBody,
  ): Promise<Receipt<Answer<ProfileReceipt>>> {
    const team = namedTeam(actor, team_id);
    // The team is part of the name: the command ids of operators are shared by all teams.
    const profile = deriveId(request.context.commandId, `profile ${team}`);
    return this.change(team, { type: 'CreateProfile', profile, name }, request);
  }

  @Get()
  @ReadsFrom('access')
  @Operation({
    id: 'list_profiles',
    summary: 'Profiles of a team in the order they were created.',
    kind: 'read',
    returns: ProfilePage,
    problems: { 404: 'No such team: not_found.' },
  })
  async list(
    @Actor() actor: Actor,
    @Query() { team_id, limit = defaultLimit, cursor }: TeamListQuery,
  ): Promise<Answer<ProfilePage>> {
    const after = parseCursor(cursor, positionPlace);
    const rows = await this.queries.execute(new ListProfiles(namedTeam(actor, team_id), { after, limit: limit + 1 }));
    return pageOf(rows, limit, ({ created_position }) => [created_position], viewOf);
  }

  @Post(':id/deactivate')
  @Operation({
    id: 'deactivate_profile',
    summary: 'Deactivates a profile: its keys stop working.',
    kind: 'write',
    returns: ProfileReceipt,
    problems: { 404: 'No such profile: not_found.' },
  })
  deactivate(
    @Actor() actor: Actor,
    @Command() request: HttpCommand,
    @Id() id: string,
    @Body() { team_id }: TeamBody,
  ): Promise<Receipt<Answer<ProfileReceipt>>> {
    return this.change(namedTeam(actor, team_id), { type: 'DeactivateProfile', profile: id }, request);
  }

  @Post(':id/reactivate')
  @Operation({
    id: 'reactivate_profile',
    summary: 'Makes a deactivated profile active again.',
    kind: 'write',
    returns: ProfileReceipt,
    problems: { 404: 'No such profile: not_found.' },
  })
  reactivate(
    @Actor() actor: Actor,
    @Command() request: HttpCommand,
    @Id() id: string,
    @Body() { team_id }: TeamBody,
  ): Promise<Receipt<Answer<ProfileReceipt>>> {
    return this.change(namedTeam(actor, team_id), { type: 'ReactivateProfile', profile: id }, request);
  }

  private async change(
    team: string,
    order: Extract<ChangeTeam['order'], { profile: string }>,
    request: HttpCommand,
  ): Promise<Receipt<Answer<ProfileReceipt>>> {
    return new Receipt({ profile_id: order.profile }, await this.commands.execute(new ChangeTeam(team, order, request)));
  }
}

const viewOf = ({ team_id, profile_id, name, status, created_at }: ProfileRow): Answer<ProfileView> => ({
  profile_id,
  team_id,
  name,
  status,
  created_at: created_at.toISOString(),
});
