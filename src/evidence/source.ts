import { type DomainEvent, isRedacted, type Sealed } from '../event-log/domain-event.js';
import type { EventDefinitions } from '../event-log/event-catalogue.js';
import type { Refusal } from '../event-log/execute.js';
import type { Authorship } from './evidence.js';

/** A source that evidence came from, with the revisions of it that were published. */
export const sourceStream = (team: string, source: string) => ({ kind: 'source', team, id: source }) as const;

/** Sealed under the source's own key. */
export interface PublishedRevision {
  readonly key: string;
  readonly revision: string;
}

export type SourceEvent = DomainEvent &
  (
    | {
        readonly type: 'SourceRevisionPublished';
        readonly source_id: string;
        /** 1, 2, ... in the order of publication. */
        readonly number: number;
        readonly sealed: Sealed<PublishedRevision>;
      }
    | { readonly type: 'SourceErased'; readonly source_id: string }
  );

export const sourceEvents: EventDefinitions<SourceEvent> = {
  SourceRevisionPublished: { version: 1, keyOwner: ({ source_id }) => source_id },
  SourceErased: { version: 1 },
};

export type Source =
  | { readonly status: 'none' }
  /** The latest revision is the current one; undefined where the reader may not see it. */
  | { readonly status: 'published'; readonly number: number; readonly latest: PublishedRevision | undefined }
  | { readonly status: 'erased' };

export const noSource: Source = { status: 'none' };

export function evolveSource(source: Source, event: SourceEvent): Source {
  switch (event.type) {
    case 'SourceRevisionPublished': {
      if (source.status === 'erased') return source;
      const latest = event.sealed as typeof event.sealed | undefined;
      return { status: 'published', number: event.number, latest: latest && !isRedacted(latest) ? latest : undefined };
    }
    case 'SourceErased':
      return { status: 'erased' };
    default:
      return event satisfies never;
  }
}

export const sourceOf = (events: readonly { data: SourceEvent }[]): Source =>
  events.reduce<Source>((source, { data }) => evolveSource(source, data), noSource);

export const isSourceErased = (events: readonly { data: SourceEvent }[]): boolean =>
  events.some(({ data }) => data.type === 'SourceErased');

export type SourceCommand =
  | ({ readonly type: 'Publish'; readonly source_id: string } & PublishedRevision)
  | { readonly type: 'Erase'; readonly source_id: string; readonly authorship: Authorship };

export type SourceRefusal = 'not_found' | 'erased' | 'not_the_owner';

const refuse = (refused: SourceRefusal): Refusal => ({ refused });

/**
 * The events that follow from a command, none when it is already so, or why not. An older revision may be published again:
 * the source went back to it, and it is the current one once more.
 */
export function decideSource(command: SourceCommand, source: Source): readonly SourceEvent[] | Refusal {
  const { source_id } = command;
  switch (command.type) {
    case 'Publish': {
      if (source.status === 'erased') return refuse('erased');
      const { key, revision } = command;
      if (source.status === 'published' && source.latest?.revision === revision) return [];
      const number = source.status === 'none' ? 1 : source.number + 1;
      return [{ type: 'SourceRevisionPublished', source_id, number, sealed: { key, revision } }];
    }
    case 'Erase': {
      const { by, owner, admin } = command.authorship;
      if (source.status === 'none') return refuse('not_found');
      if (source.status === 'erased') return [];
      if (!admin && (by === undefined || by !== owner)) return refuse('not_the_owner');
      return [{ type: 'SourceErased', source_id }];
    }
    default:
      return command satisfies never;
  }
}
