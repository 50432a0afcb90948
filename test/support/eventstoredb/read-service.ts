import streams from '@eventstore/db-client/generated/streams_pb.js';
import { AllSubscription } from './all-subscription.js';
import { type ReadFault } from './faults.js';
import { filterOf } from './filter.js';
import { readEvent, streamName, streamNotFound } from './messages.js';
import { admit, disturbance, type Ending, type Node, perform } from './node.js';
import { drained, type ReadCall } from './read-call.js';
import * as errors from './rpc-errors.js';
import { type StoredEvent } from './stored-events.js';
import { StreamSubscription } from './stream-subscription.js';

type ReadEnding = Ending & { readonly call: ReadCall };
type Options = streams.ReadReq.Options;

/** Read: of a stream or of all; either so many events or, with `subscription`, for ever. */
export function read(node: Node) {
  return (call: ReadCall): void => {
    const options = call.request.getOptions();
    const ending = { call, fail: (error: errors.RpcError) => call.emit('error', error), end: () => call.end() };
    if (!options) return void ending.fail(errors.handlerThrew());
    const stream = options.hasAll() ? '$all' : streamName(options.getStream());
    if (options.hasSubscription()) subscribe(node, ending, options, stream);
    else readOnce(node, ending, options, stream);
  };
}

function subscribe(node: Node, ending: ReadEnding, options: Options, stream: string): void {
  node.requests.add({ operation: 'subscribe', stream, ids: [] });
  const [now, later] = timed(node.faults.take('subscribe', stream));
  void perform(node, {
    ...ending,
    fault: now,
    work: () => {
      admit(node, ending.call);
      return options.hasAll()
        ? new AllSubscription(node, ending, options, later)
        : new StreamSubscription(node, ending, options, stream, later);
    },
    answer: (subscription) => void subscription.run(),
  });
}

function readOnce(node: Node, ending: ReadEnding, options: Options, stream: string): void {
  const operation = options.hasAll() ? 'read_all' : 'read_stream';
  node.requests.add({ operation, stream, ids: [] });
  const [now, later] = timed(node.faults.take(operation, stream));
  void perform(node, {
    ...ending,
    fault: now,
    work: () => {
      admit(node, ending.call);
      return options.hasAll() ? readAll(node, options) : readStream(node, options, stream);
    },
    answer: (events) => {
      const { call } = ending;
      if (events === 'not_found') {
        call.write(streamNotFound(stream));
        return void call.end();
      }
      const sent = later ? events.slice(0, later.afterEvents) : events;
      void send(call, sent).then(later ? disturbance(node, ending, later.kind) : () => call.end());
    },
  });
}

/** A fault that befalls after some events is kept for later. */
function timed(fault: ReadFault | undefined): [now: ReadFault | undefined, later: ReadFault | undefined] {
  return fault?.afterEvents === undefined ? [fault, undefined] : [undefined, fault];
}

async function send(call: ReadCall, events: readonly StoredEvent[]): Promise<void> {
  for (const event of events) {
    if (call.cancelled || call.destroyed) return;
    if (!call.write(readEvent(event))) await drained(call);
  }
}

/** Forwards and backwards it begins with the revision named. */
function readStream(node: Node, options: Options, name: string): readonly StoredEvent[] | 'not_found' {
  const events = node.events.stream(name);
  if (events === 'deleted') throw errors.streamDeleted(name);
  if (events === 'not_found') return events;
  const place = options.getStream();
  const revision = place?.hasRevision() ? BigInt(place.getRevision()) : undefined;
  const count = Number(options.getCount());
  if (!isBackwards(options)) {
    if (place?.hasEnd()) return [];
    return events.filter((event) => revision === undefined || event.revision >= revision).slice(0, count);
  }
  const last = place?.hasStart() ? 0n : revision;
  const upTo = events.filter((event) => last === undefined || event.revision <= last);
  return upTo.reverse().slice(0, count);
}

/** Forwards it begins with the event at the position, backwards with the one before. */
function readAll(node: Node, options: Options): readonly StoredEvent[] {
  const place = options.getAll();
  const { all } = node.events;
  const position = place?.hasPosition() ? BigInt(place.getPosition()?.getCommitPosition() ?? 0) : undefined;
  const at = position === undefined ? (place?.hasEnd() ? all.length : 0) : node.events.indexOf(position);
  if (position !== undefined && all[at] && !node.events.hasRecordAt(position)) {
    throw errors.unknownError('Unexpected ReadAllResult: InvalidPosition');
  }
  const events = isBackwards(options) ? all.slice(0, at).reverse() : all.slice(at);
  return events.filter(filterOf(options)).slice(0, Number(options.getCount()));
}

const isBackwards = (options: Options): boolean => options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;
