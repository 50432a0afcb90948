import { ApiProperty } from '@nestjs/swagger';
import type { SwitchRecord } from '../../projections/engine/operation-log.js';
import type { BuildStatus, ProjectionStatus } from '../../projections/engine/status.js';
import type { TableComparison, Verification } from '../../projections/engine/verify.js';
import type { Answer } from './openapi.js';

class Lag {
  @ApiProperty({ type: 'integer', description: 'Positions between read model and head; bytes on logs that count in bytes.' })
  positions!: number;

  @ApiProperty({ type: Number, description: 'Age of the oldest event that is not in the read model yet.' })
  seconds!: number;
}

class RebuildView {
  @ApiProperty({ type: 'integer', description: 'Last position in its rows; -1 before the first.' })
  position!: number;

  @ApiProperty({ type: Number, description: 'Events a second.' })
  rate!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'Seconds until it is level with the log at this rate.' })
  eta_seconds!: number | null;
}

/** A making of a read model. */
export class BuildName {
  @ApiProperty({ type: 'integer', description: 'What the rows mean.' })
  version!: number;

  @ApiProperty({ type: 'integer', description: 'How often that was made anew.' })
  build!: number;
}

class BuildView extends BuildName {
  @ApiProperty({ type: String, enum: ['ready', 'serving', 'standby'], description: 'What it is for, whatever its state.' })
  role!: string;

  @ApiProperty({
    type: String,
    enum: ['building', 'catching_up', 'ready', 'serving', 'standby', 'stopped'],
    description:
      'ready, serving and standby are level with each other; building and catching_up (it stood still before) come to that; stopped stands still.',
  })
  state!: string;

  @ApiProperty({
    type: Boolean,
    description: 'Whether this service has the code for its version. Without it, the build stands still and cannot serve again.',
  })
  projected!: boolean;

  @ApiProperty({ type: 'integer', description: 'Last position in its rows; -1 before the first.' })
  position!: number;

  @ApiProperty({ type: Lag })
  lag!: Lag;

  @ApiProperty({ type: Number, description: 'Events a second.' })
  rate!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'Seconds until the head at this rate.' })
  eta_seconds!: number | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why it stands still; never holds content.' })
  last_error!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Position of the event that it stopped at, which may be skipped.',
  })
  failed_position!: number | null;

  @ApiProperty({
    type: Boolean,
    description: 'Whether all that was erased so far is gone from it; false for a moment after it came to stand still.',
  })
  purged!: boolean;
}

class ProjectionView {
  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty({ type: 'integer' })
  version!: number;

  @ApiProperty({ type: String, enum: ['caught_up', 'catching_up', 'building', 'stopped'] })
  state!: string;

  @ApiProperty({ type: 'integer', description: 'Last position in the read model; -1 before the first.' })
  position!: number;

  @ApiProperty({ type: 'integer', description: 'Last position of the log.' })
  head!: number;

  @ApiProperty({ type: Lag })
  lag!: Lag;

  @ApiProperty({ type: Number, description: 'Events a second.' })
  rate!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'Seconds until the head at this rate.' })
  eta_seconds!: number | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why it stopped; never holds content.' })
  last_error!: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'Number of the build that serves; grows with every rebuild, 0 while none serves.',
  })
  build!: number;

  @ApiProperty({ type: RebuildView, nullable: true, description: 'The build that is to replace it, while it is being made.' })
  rebuild!: RebuildView | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Why the last rebuild that this service was asked for failed; rebuild_differs: it is ready, but holds other rows. Never holds content.',
  })
  rebuild_error!: string | null;

  @ApiProperty({ type: BuildView, isArray: true, description: 'Every build that is kept, the one that serves first.' })
  builds!: BuildView[];
}

export class ProjectionList {
  @ApiProperty({ type: ProjectionView, isArray: true })
  items!: ProjectionView[];
}

class DigestView {
  @ApiProperty({ type: 'integer' })
  rows!: number;

  @ApiProperty({ type: String, description: 'Of the columns compared, whatever the order of rows; another one each time.' })
  checksum!: string;
}

class DifferenceView {
  @ApiProperty({ type: String, enum: ['only_serving', 'only_candidate', 'differs'] })
  found!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Columns of the key that hold ids or positions.',
  })
  key!: Record<string, string>;
}

class TableComparisonView {
  @ApiProperty({ type: String })
  table!: string;

  @ApiProperty({ type: DigestView, nullable: true, description: 'Null where it has no such table.' })
  serving!: DigestView | null;

  @ApiProperty({ type: DigestView, nullable: true, description: 'Null where it has no such table.' })
  candidate!: DigestView | null;

  @ApiProperty({ type: [String], description: 'Columns compared; none where only one has the table, or the keys differ.' })
  columns!: string[];

  @ApiProperty({ type: Boolean })
  equal!: boolean;

  @ApiProperty({ type: DifferenceView, isArray: true, description: 'At most 20 rows that differ, though there may be more.' })
  differences!: DifferenceView[];
}

class CandidateView extends BuildName {
  @ApiProperty({ type: String, enum: ['ready', 'standby'] })
  role!: string;
}

export class VerificationView {
  @ApiProperty({ type: String })
  projection!: string;

  @ApiProperty({ type: 'integer', description: 'The position of both.' })
  position!: number;

  @ApiProperty({ type: BuildName })
  serving!: BuildName;

  @ApiProperty({ type: CandidateView })
  candidate!: CandidateView;

  @ApiProperty({ type: Boolean })
  equal!: boolean;

  @ApiProperty({ type: TableComparisonView, isArray: true })
  tables!: TableComparisonView[];
}

export class RebuildStarted extends BuildName {
  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty({ type: String, enum: ['building'] })
  state!: 'building';
}

export class SwitchedView {
  @ApiProperty({ type: String })
  projection!: string;

  @ApiProperty({ type: BuildName, nullable: true, description: 'What served before; null where nothing did.' })
  from!: BuildName | null;

  @ApiProperty({ type: BuildName, description: 'What serves now.' })
  to!: BuildName;

  @ApiProperty({ type: String, enum: ['switch', 'rollback'] })
  kind!: string;
}

export class DroppedView {
  @ApiProperty({ type: BuildName, isArray: true })
  dropped!: BuildName[];
}

export class SkippedView {
  @ApiProperty({ type: String })
  projection!: string;

  @ApiProperty({ type: 'integer' })
  position!: number;
}

export const statusView = ({ position, head, lag, rebuild, builds, ...rest }: ProjectionStatus): Answer<ProjectionView> => ({
  ...rest,
  position: Number(position),
  head: Number(head),
  lag: { positions: Number(lag.positions), seconds: lag.seconds },
  rebuild: rebuild && { ...rebuild, position: Number(rebuild.position) },
  builds: builds.map(buildView),
});

const buildView = ({ position, lag, failed_position, ...rest }: BuildStatus): Answer<BuildView> => ({
  ...rest,
  position: Number(position),
  lag: { positions: Number(lag.positions), seconds: lag.seconds },
  failed_position: failed_position === null ? null : Number(failed_position),
});

export const verificationView = ({ position, tables, ...rest }: Verification): Answer<VerificationView> => ({
  ...rest,
  position: Number(position),
  tables: tables.map(tableView),
});

const tableView = ({ serving, candidate, ...rest }: TableComparison): Answer<TableComparisonView> => ({
  ...rest,
  serving: serving ? { ...serving, rows: Number(serving.rows) } : null,
  candidate: candidate ? { ...candidate, rows: Number(candidate.rows) } : null,
});

export const switchedView = ({ projection, from, to, kind }: SwitchRecord): Answer<SwitchedView> => ({
  projection,
  from,
  to,
  kind,
});
