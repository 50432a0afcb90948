import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import { Configuration } from '../config/configuration.js';
import { CommandRefused, type CommandRequest, type CommandResult, executeCommand, type Written } from '../event-log/execute.js';
import { systemTeam } from '../event-log/stream-name.js';
import { Streams } from '../event-log/streams.js';
import { ApiKeyHashes } from './api-key-hashes.js';
import {
  decide,
  decideOperatorKey,
  evolve,
  isRepetition,
  type IssueApiKey,
  noTeam,
  operatorStream,
  type TeamCommand,
  type TeamEvent,
  teamStream,
} from './team.js';

type KeyCommand = Extract<TeamCommand, { type: 'IssueApiKey' | 'RevokeApiKey' }>;

/** Anything on a team's stream but keys. */
export class ChangeTeam extends Command<Written> {
  constructor(
    readonly team: string,
    readonly order: Exclude<TeamCommand, KeyCommand>,
    readonly request: CommandRequest,
  ) {
    super();
  }
}

/** @param team UUID, or `system` for an operator key */
export class IssueKey extends Command<IssuedKey> {
  constructor(
    readonly team: string,
    readonly order: IssueApiKey,
    readonly request: CommandRequest,
  ) {
    super();
  }
}

export interface IssuedKey {
  /** Undefined when the same command ran before: only the hash of its key is left. */
  readonly key: string | undefined;
  readonly written: Written;
}

export class RevokeKey extends Command<Written> {
  constructor(
    readonly team: string,
    readonly keyId: string,
    readonly request: CommandRequest,
  ) {
    super();
  }
}

@CommandHandler(ChangeTeam)
export class ChangeTeamHandler implements ICommandHandler<ChangeTeam> {
  constructor(private readonly streams: Streams) {}

  execute({ team, order, request }: ChangeTeam): Promise<Written> {
    return run(this.streams, { stream: teamStream(team), order, request, decision: (state) => decide(order, state) });
  }
}

/**
 * The append decides; the hash follows. A crash between the two leaves a key that nobody can use. Sending the same command
 * again, under its idempotency key, gives it a secret after all; without one, revoke it and issue another.
 */
@CommandHandler(IssueKey)
export class IssueKeyHandler implements ICommandHandler<IssueKey> {
  constructor(
    private readonly streams: Streams,
    private readonly hashes: ApiKeyHashes,
    private readonly engine: ProjectionEngine,
    private readonly configuration: Configuration,
  ) {}

  async execute({ team, order, request }: IssueKey): Promise<IssuedKey> {
    const written = await runKeyCommand(this.streams, team, order, request);
    const mayMint = written.outcome === 'appended' || (await this.isValid(team, order.key));
    const key = mayMint ? await this.hashes.mint(team, order.key) : undefined;
    // So that the key works when its owner gets it. The write stands either way.
    await this.engine.waitFor(written.position, this.configuration.minPositionWaitMs, ['access']);
    return { key, written };
  }

  private async isValid(team: string, keyId: string): Promise<boolean> {
    const { events } = await this.streams.load<TeamEvent>(keyStream(team));
    return events.reduce((state, { data }) => evolve(state, data), noTeam).keys.get(keyId) === 'valid';
  }
}

/** The hash goes at once, so that the key ends with this answer even while the read model is behind. Repeating heals a crash. */
@CommandHandler(RevokeKey)
export class RevokeKeyHandler implements ICommandHandler<RevokeKey> {
  constructor(
    private readonly streams: Streams,
    private readonly hashes: ApiKeyHashes,
  ) {}

  async execute({ team, keyId, request }: RevokeKey): Promise<Written> {
    const written = await runKeyCommand(this.streams, team, { type: 'RevokeApiKey', key: keyId }, request);
    await this.hashes.forget(team, keyId);
    return written;
  }
}

const keyStream = (team: string) => (team === systemTeam ? operatorStream : teamStream(team));

const runKeyCommand = (streams: Streams, team: string, order: KeyCommand, request: CommandRequest) =>
  run(streams, {
    stream: keyStream(team),
    order,
    request,
    decision: (state) => (team === systemTeam ? decideOperatorKey(order, state) : decide(order, state)),
  });

interface Run {
  readonly stream: ReturnType<typeof teamStream>;
  readonly order: TeamCommand;
  readonly request: CommandRequest;
  readonly decision: (state: typeof noTeam) => ReturnType<typeof decide>;
}

async function run(streams: Streams, { stream, order, request, decision }: Run): Promise<CommandResult<TeamEvent>> {
  const result = await executeCommand<TeamEvent>(streams, {
    ...request,
    stream,
    decide: (events) => decision(events.reduce((state, { data }) => evolve(state, data), noTeam)),
  });
  if (result.outcome === 'repeated' && !isRepetition(order, result.events)) {
    throw new CommandRefused('idempotency_key_reused', 'Idempotency-Key');
  }
  return result;
}
