import { Global, Module } from '@nestjs/common';
import { Authenticator } from '../http/authentication.js';
import { ListKeysHandler, ListProfilesHandler, ListTeamsHandler } from './access-queries.js';
import { ApiKeyAuthenticator } from './api-key-authenticator.js';
import { ApiKeyHashes } from './api-key-hashes.js';
import { KeysController } from './keys.controller.js';
import { ProfilesController } from './profiles.controller.js';
import { ChangeTeamHandler, IssueKeyHandler, RevokeKeyHandler } from './team-commands.js';
import { TeamSettings } from './team-settings.js';
import { TeamsController } from './teams.controller.js';

/** Teams, profiles and API keys. Global, because every request is authenticated and every slice may ask for settings. */
@Global()
@Module({
  controllers: [TeamsController, ProfilesController, KeysController],
  providers: [
    { provide: Authenticator, useClass: ApiKeyAuthenticator },
    ApiKeyHashes,
    TeamSettings,
    ChangeTeamHandler,
    IssueKeyHandler,
    RevokeKeyHandler,
    ListTeamsHandler,
    ListProfilesHandler,
    ListKeysHandler,
  ],
  exports: [Authenticator, TeamSettings],
})
export class AccessModule {}
