import { ListQuery } from '../http/paging.js';
import { CodePoints, Flag, Integer, Nested, Nullable, OneOf, Optional, Timestamp, Uuid } from '../http/validation/fields.js';
import { type Scope, scopes } from './scopes.js';
import { type Language, languages, longestRetentionDays, type Settings } from './settings.js';

const teamOfOperators = 'The team; operators name it, the key of a team need not.';
const longestName = 200;

export class SettingsFields {
  @Optional()
  @Flag({ description: 'Whether new procedure versions wait for review; false at first.' })
  review?: boolean;

  @Optional()
  @OneOf(languages, {
    description:
      'Language of the team’s texts, for stemming; english at first. Kept, and without effect as long as there are no texts to index.',
  })
  language?: Language;

  @Optional()
  @Flag({
    description: 'Whether recalls are recorded; false at first. Kept, and without effect as long as no recall is recorded.',
  })
  recording?: boolean;

  @Nullable()
  @Integer(1, longestRetentionDays, {
    description:
      'Days after which runs of procedures lose their verdicts, as if they had been pruned; null, as at first, for never.',
  })
  execution_retention_days?: number | null;
}

/** Only what was named. */
export const namedSettings = (fields: SettingsFields | undefined): Partial<Settings> => ({
  ...(fields?.review !== undefined && { review: fields.review }),
  ...(fields?.language !== undefined && { language: fields.language }),
  ...(fields?.recording !== undefined && { recording: fields.recording }),
  ...(fields?.execution_retention_days !== undefined && { execution_retention_days: fields.execution_retention_days }),
});

export class CreateTeamBody {
  @CodePoints(1, longestName, { example: 'Support' })
  name!: string;

  @Optional()
  @Nested(() => SettingsFields)
  settings?: SettingsFields;
}

/** A body that names nothing but the team. */
export class TeamBody {
  @Optional()
  @Uuid({ description: teamOfOperators })
  team_id?: string;
}

export class CreateProfileBody extends TeamBody {
  @CodePoints(1, longestName, { example: 'refund-agent' })
  name!: string;
}

export class IssueKeyBody extends TeamBody {
  @Optional()
  @Uuid({ description: 'Author that everything written with the key belongs to; required for memory:write and feedback:write.' })
  profile_id?: string;

  @OneOf(scopes, { list: { min: 1, max: scopes.length } })
  scopes!: Scope[];

  @Optional()
  @CodePoints(1, longestName, { description: 'What the key is for.' })
  name?: string;

  @Optional()
  @Timestamp({ description: 'When it stops working; left out for never.' })
  expires_at?: string;
}

export class TeamListQuery extends ListQuery {
  @Optional()
  @Uuid({ description: teamOfOperators })
  team_id?: string;
}
