import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import { OperatorsAllowed, RequireScope } from './authentication.js';
import { Command, type HttpCommand } from './command-context.js';
import { type Answer, Operation } from './openapi.js';
import { registerRefusals } from './problem.js';
import {
  DroppedView,
  ProjectionList,
  RebuildStarted,
  SkippedView,
  statusView,
  SwitchedView,
  switchedView,
  VerificationView,
  verificationView,
} from './projection-views.js';
import { Receipt } from './receipts.js';
import { CodePoints, Flag, Integer, OneOf, Optional } from './validation/fields.js';

registerRefusals({ nothing_stopped_there: 409, erasure_not_skippable: 409 });

class RebuildBody {
  @Optional()
  @Flag({ description: 'Ends when the new build is ready; verify and switch are left to you. Default false.' })
  hold?: boolean;

  @Optional()
  @Integer(1, 1_000_000, {
    description: 'Default: the version that serves, or the latest where this service has no code for that.',
  })
  version?: number;
}

class DropBody {
  @Optional()
  @OneOf(['ready', 'standby'], { description: 'Default: every build that does not serve.' })
  role?: 'ready' | 'standby';
}

class SkipBody {
  @Integer(0, Number.MAX_SAFE_INTEGER, { description: 'The failed_position of a build that stopped.' })
  position!: number;

  @Optional()
  @CodePoints(1, 1_000, { description: 'Kept sealed with the event.' })
  reason?: string;
}

const unknown = { 404: 'No such read model: not_found.' };
const named = ApiParam({ name: 'name', type: String });

/** Reading where read models stand, and replacing one build of them by another. */
@RequireScope('projections:manage')
@OperatorsAllowed()
@ApiTags('operations')
@Controller('v1/projections')
export class ProjectionsController {
  constructor(private readonly engine: ProjectionEngine) {}

  @Get()
  @Operation({ id: 'list_projections', summary: 'Read models and how far they are.', kind: 'operation', returns: ProjectionList })
  async list(): Promise<Answer<ProjectionList>> {
    return { items: (await this.engine.status()).map(statusView) };
  }

  @Post(':name/rebuild')
  @named
  @Operation({
    id: 'rebuild_projection',
    summary: 'Builds a read model anew from the log, beside the one that serves, compares the two, then switches.',
    description: 'Goes on in the background; how far it is, and why it failed, is in the list.',
    kind: 'operation',
    status: 202,
    returns: RebuildStarted,
    problems: {
      ...unknown,
      409: 'It is being rebuilt already: rebuild_running.',
      422: 'No code for the version: version_not_declared.',
    },
  })
  async rebuild(@Param('name') name: string, @Body() { hold, version }: RebuildBody): Promise<Answer<RebuildStarted>> {
    const started = await this.engine.startRebuild(name, { hold: hold ?? false, version });
    return { name, state: 'building', version: started.version, build: started.build };
  }

  @Post(':name/verify')
  @named
  @Operation({
    id: 'verify_projection',
    summary: 'Compares the build that is ready, else the one that stands by, with the one that serves, at one position.',
    kind: 'operation',
    returns: VerificationView,
    problems: { ...unknown, 409: 'nothing_to_verify; builds_not_level.' },
  })
  async verify(@Param('name') name: string): Promise<Answer<VerificationView>> {
    return verificationView(await this.engine.verify(name));
  }

  @Post(':name/switch')
  @named
  @Operation({
    id: 'switch_projection',
    summary: 'Lets the build that is ready serve; what served stands by.',
    kind: 'write',
    returns: SwitchedView,
    problems: { ...unknown, 409: 'no_ready_build; ready_build_behind, ready_build_stopped or ready_build_not_projected.' },
  })
  async switch(@Command() command: HttpCommand, @Param('name') name: string): Promise<Receipt<Answer<SwitchedView>>> {
    const { record, written } = await this.engine.switch(name, command);
    return new Receipt(switchedView(record), written);
  }

  @Post(':name/rollback')
  @named
  @Operation({
    id: 'roll_back_projection',
    summary: 'Lets the build serve again that did before; what serves stands by.',
    kind: 'write',
    returns: SwitchedView,
    problems: {
      ...unknown,
      409: 'no_standby_build; standby_build_behind, standby_build_stopped or standby_build_not_projected.',
    },
  })
  async rollback(@Command() command: HttpCommand, @Param('name') name: string): Promise<Receipt<Answer<SwitchedView>>> {
    const { record, written } = await this.engine.rollback(name, command);
    return new Receipt(switchedView(record), written);
  }

  @Post(':name/drop')
  @named
  @Operation({
    id: 'drop_projection_builds',
    summary: 'Drops builds that do not serve; a rebuild that is under way ends.',
    kind: 'operation',
    returns: DroppedView,
    problems: { ...unknown, 409: 'nothing_to_drop.' },
  })
  async drop(@Param('name') name: string, @Body() { role }: DropBody): Promise<Answer<DroppedView>> {
    return { dropped: await this.engine.drop(name, role) };
  }

  @Post(':name/skip')
  @named
  @Operation({
    id: 'skip_projection_event',
    summary: 'Leaves an event out of a read model for good, so that a build which stopped at it goes on.',
    kind: 'write',
    returns: SkippedView,
    problems: { ...unknown, 409: 'nothing_stopped_there; erasure_not_skippable.' },
  })
  async skip(
    @Command() command: HttpCommand,
    @Param('name') name: string,
    @Body() { position, reason }: SkipBody,
  ): Promise<Receipt<Answer<SkippedView>>> {
    const written = await this.engine.skip(name, BigInt(position), reason, command);
    return new Receipt({ projection: name, position }, written);
  }
}
