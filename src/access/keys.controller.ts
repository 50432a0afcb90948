import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiTags } from '@nestjs/swagger';
import type { ApiKeyRow } from '../../projections/access/access.projection.js';
import { Clock } from '../config/clock.js';
import { deriveId } from '../event-log/ids.js';
import { systemTeamId } from '../event-log/stream-name.js';
import { Actor, OperatorsAllowed, RequireScope } from '../http/authentication.js';
import { Command, type HttpCommand } from '../http/command-context.js';
import { type Answer, Operation } from '../http/openapi.js';
import { defaultLimit, pageOf, parseCursor, positionPlace } from '../http/paging.js';
import { ReadsFrom } from '../http/read-models.js';
import { Receipt } from '../http/receipts.js';
import { Id } from '../http/validation/id.js';
import { ListKeys } from './access-queries.js';
import { IssuedKeyReceipt, KeyPage, KeyReceipt, type KeyView } from './answers.js';
import { namedTeamOrOperators } from './named-team.js';
import { IssueKeyBody, TeamBody, TeamListQuery } from './requests.js';
import { IssueKey, RevokeKey } from './team-commands.js';

@RequireScope('admin')
@OperatorsAllowed()
@ApiTags('access')
@Controller('v1/keys')
export class KeysController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly clock: Clock,
  ) {}

  @Post()
  @Operation({
    id: 'issue_key',
    summary: 'Issues an API key, of a team or, when an operator names none, an operator key.',
    kind: 'write',
    status: 201,
    returns: IssuedKeyReceipt,
    problems: { 404: 'No such team: not_found.' },
  })
  async issue(
    @Actor() actor: Actor,
    @Command() request: HttpCommand,
    @Body() body: IssueKeyBody,
  ): Promise<Receipt<Answer<IssuedKeyReceipt>>> {
    const team = namedTeamOrOperators(actor, body.team_id);
    const keyId = deriveId(request.context.commandId, `key ${team}`);
    const order = {
      type: 'IssueApiKey',
      key: keyId,
      profile: body.profile_id,
      scopes: body.scopes,
      expiresAt: body.expires_at,
      name: body.name,
      now: this.clock.now(),
    } as const;
    const { key, written } = await this.commands.execute(new IssueKey(team, order, request));
    return new Receipt<Answer<IssuedKeyReceipt>>({ key_id: keyId, key: key ?? null }, written, { key_id: keyId, key: null });
  }

  @Get()
  @ReadsFrom('access')
  @Operation({
    id: 'list_keys',
    summary: 'Keys of a team or, when an operator names none, operator keys, in the order they were issued.',
    kind: 'read',
    returns: KeyPage,
    problems: { 404: 'No such team: not_found.' },
  })
  async list(@Actor() actor: Actor, @Query() { team_id, limit = defaultLimit, cursor }: TeamListQuery): Promise<Answer<KeyPage>> {
    const after = parseCursor(cursor, positionPlace);
    const rows = await this.queries.execute(new ListKeys(namedTeamOrOperators(actor, team_id), { after, limit: limit + 1 }));
    return pageOf(rows, limit, ({ created_position }) => [created_position], viewOf);
  }

  @Post(':id/revoke')
  @Operation({
    id: 'revoke_key',
    summary: 'Revokes a key: it stops working with this answer, for ever.',
    kind: 'write',
    returns: KeyReceipt,
    problems: { 404: 'No such key: not_found.' },
  })
  async revoke(
    @Actor() actor: Actor,
    @Command() request: HttpCommand,
    @Id() id: string,
    @Body() { team_id }: TeamBody,
  ): Promise<Receipt<Answer<KeyReceipt>>> {
    const team = namedTeamOrOperators(actor, team_id);
    return new Receipt({ key_id: id }, await this.commands.execute(new RevokeKey(team, id, request)));
  }
}

const viewOf = (row: ApiKeyRow): Answer<KeyView> => ({
  key_id: row.key_id,
  team_id: row.team_id === systemTeamId ? null : row.team_id,
  profile_id: row.profile_id,
  name: row.name,
  scopes: row.scopes.split(' '),
  expires_at: row.expires_at?.toISOString() ?? null,
  revoked: row.revoked,
  created_at: row.created_at.toISOString(),
});
