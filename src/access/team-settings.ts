import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { settingsOfTeam } from '../../projections/access/access.queries.js';
import { defaultSettings, type Settings } from './settings.js';

/** Settings of a team, for slices that behave by them. */
@Injectable()
export class TeamSettings {
  constructor(private readonly database: Database) {}

  /** From the read model, so a change takes effect as soon as it is projected; the defaults for a team not yet projected. */
  async of(team: string): Promise<Settings> {
    return (await this.database.asTeam(team, (queries) => settingsOfTeam(queries, team))) ?? defaultSettings;
  }
}
