import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { type StoredEvent } from './stored-events.js';

/** The events a read of all or a subscription to all gives. */
export function filterOf(options: streams.ReadReq.Options): (event: StoredEvent) => boolean {
  const filter = options.getFilter();
  const onStream = filter?.getStreamIdentifier();
  const expression = onStream ?? filter?.getEventType();
  if (!expression) return () => true;
  const pattern = expression.getRegex() === '' ? undefined : new RegExp(expression.getRegex(), 'u');
  const prefixes = expression.getPrefixList();
  return ({ stream, type }) => {
    const text = onStream ? stream : type;
    return pattern ? pattern.test(text) : prefixes.some((prefix) => text.startsWith(prefix));
  };
}
