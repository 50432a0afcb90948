/** Team part of streams that belong to no team. */
export const systemTeam = 'system';

/** Stands for `system` in tables, where teams are UUIDs. No team has it. */
export const systemTeamId = '00000000-0000-0000-0000-000000000000';

export const tableTeamId = (team: string): string => (team === systemTeam ? systemTeamId : team);

/** A stream without the installation's prefix. */
export interface StreamId {
  readonly kind: string;
  /** UUID, or `system`. */
  readonly team: string;
  readonly id: string;
}

/** `<prefix><kind>-<team>_<id>`, for example `mneme_procedure-0b5c…_77aa…`. */
export const streamName = (prefix: string, { kind, team, id }: StreamId): string => `${prefix}${kind}-${team}_${id}`;

/** Takes a stream name apart; undefined when it is not one of ours. */
export function parseStreamName(prefix: string, name: string): StreamId | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const match = /^([a-z]+)-([0-9a-z-]+)_(.+)$/.exec(name.slice(prefix.length));
  if (!match) return undefined;
  const [, kind = '', team = '', id = ''] = match;
  return { kind, team, id };
}
