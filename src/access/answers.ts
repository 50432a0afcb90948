import { ApiProperty } from '@nestjs/swagger';
import { scopes } from './scopes.js';
import { languages } from './settings.js';

const id = { type: String, format: 'uuid' } as const;
const time = { type: String, format: 'date-time' } as const;
const nextCursor = { type: String, nullable: true, description: 'For the next page; null on the last one.' } as const;
const name = { type: String, nullable: true, description: 'Null when it was left out or erased.' } as const;

export class TeamReceipt {
  @ApiProperty(id)
  team_id!: string;
}

export class ProfileReceipt {
  @ApiProperty(id)
  profile_id!: string;
}

export class KeyReceipt {
  @ApiProperty(id)
  key_id!: string;
}

export class IssuedKeyReceipt extends KeyReceipt {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The key, shown this once. Null when the command was repeated: only a hash is kept.',
  })
  key!: string | null;
}

class SettingsView {
  @ApiProperty({ type: Boolean })
  review!: boolean;

  @ApiProperty({ type: String, enum: [...languages] })
  language!: string;

  @ApiProperty({ type: Boolean })
  recording!: boolean;

  @ApiProperty({ type: Number, nullable: true, description: 'Null where runs keep their verdicts for ever.' })
  execution_retention_days!: number | null;
}

export class TeamView extends TeamReceipt {
  @ApiProperty(name)
  name!: string | null;

  @ApiProperty({ type: SettingsView })
  settings!: SettingsView;

  @ApiProperty(time)
  created_at!: string;
}

export class ProfileView extends ProfileReceipt {
  @ApiProperty(id)
  team_id!: string;

  @ApiProperty(name)
  name!: string | null;

  @ApiProperty({ type: String, enum: ['active', 'deactivated'] })
  status!: string;

  @ApiProperty(time)
  created_at!: string;
}

export class KeyView extends KeyReceipt {
  @ApiProperty({ ...id, nullable: true, description: 'Null for operator keys.' })
  team_id!: string | null;

  @ApiProperty({ ...id, nullable: true })
  profile_id!: string | null;

  @ApiProperty(name)
  name!: string | null;

  @ApiProperty({ type: String, isArray: true, enum: [...scopes] })
  scopes!: string[];

  @ApiProperty({ ...time, nullable: true })
  expires_at!: string | null;

  @ApiProperty({ type: Boolean })
  revoked!: boolean;

  @ApiProperty(time)
  created_at!: string;
}

export class TeamPage {
  @ApiProperty({ type: TeamView, isArray: true })
  items!: TeamView[];

  @ApiProperty(nextCursor)
  next_cursor!: string | null;
}

export class ProfilePage {
  @ApiProperty({ type: ProfileView, isArray: true })
  items!: ProfileView[];

  @ApiProperty(nextCursor)
  next_cursor!: string | null;
}

export class KeyPage {
  @ApiProperty({ type: KeyView, isArray: true })
  items!: KeyView[];

  @ApiProperty(nextCursor)
  next_cursor!: string | null;
}
