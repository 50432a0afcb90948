import { type ServerWritableStream } from '@grpc/grpc-js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ReadFault } from './faults.js';
import { readEvent, streamName, streamNotFound } from './messages.js';
import { admit, disturb, type Node, perform } from './node.js';
import * as errors from './rpc-errors.js';
import { filterOf } from './filter.js';
import { type StoredEvent } from './stored-events.js';
import { Subscription } from './subscription.js';

export type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp>;

/** Read: of a stream or of all, either so many events or, with `subscription`, for ever. */
export function read(node: Node, subscriptions: Set<Subscription>) {
  return (call: ReadCall): void => {
    const options = call.request.getOptions();
    if (!options) return;
    call.on('error', () => undefined);
    const stream = options.hasAll() ? '$all' : streamName(options.getStream());
    if (options.hasSubscription()) subscribe(node, call, options, stream, subscriptions);
    else readOnce(node, call, options, stream);
  };
}

function subscribe(
  node: Node,
  call: ReadCall,
  options: streams.ReadReq.Options,
  stream: string,
  subscriptions: Set<Subscription>,
): void {
  node.requests.push({ operation: 'subscribe', stream, ids: [] });
  const fault = node.faults.take('subscribe', stream);
  const [now, later] = timed(fault);
  void perform(node, {
    call,
    fault: now,
    work: () => {
      admit(node, call.metadata);
      return new Subscription(node, call, options, stream, later);
    },
    answer: (subscription) => {
      subscriptions.add(subscription);
      void subscription.run().finally(() => subscriptions.delete(subscription));
    },
    fail: (error) => call.emit('error', error),
    end: () => call.end(),
  });
}

function readOnce(node: Node, call: ReadCall, options: streams.ReadReq.Options, stream: string): void {
  const operation = options.hasAll() ? 'read_all' : 'read_stream';
  node.requests.push({ operation, stream, ids: [] });
  const [now, later] = timed(node.faults.take(operation, stream));
  const steps = { call, fail: (error: errors.RpcError) => call.emit('error', error), end: () => call.end() };
  void perform(node, {
    ...steps,
    fault: now,
    work: () => {
      admit(node, call.metadata);
      return options.hasAll() ? readAll(node, options) : readStream(node, options, stream);
    },
    answer: (events) => {
      void send(call, events, later?.afterEvents ?? Infinity).then((all) => {
        if (all || !later) call.end();
        else disturb(node, steps, later)?.();
      });
    },
  });
}

/** A fault that strikes after some events is kept for later. */
function timed(fault: ReadFault | undefined): [now: ReadFault | undefined, later: ReadFault | undefined] {
  return fault?.afterEvents === undefined ? [fault, undefined] : [undefined, fault];
}

/** @returns whether all were sent */
async function send(call: ReadCall, events: readonly StoredEvent[] | streams.ReadResp, limit: number): Promise<boolean> {
  if (events instanceof streams.ReadResp) {
    call.write(events);
    return true;
  }
  for (const [sent, event] of events.entries()) {
    if (sent >= limit) return false;
    if (call.cancelled) return true;
    if (!call.write(readEvent(event))) await new Promise((resolve) => call.once('drain', resolve).once('cancelled', resolve));
  }
  return events.length < limit;
}

function readStream(node: Node, options: streams.ReadReq.Options, name: string): readonly StoredEvent[] | streams.ReadResp {
  const events = node.events.stream(name);
  if (events === 'deleted') throw errors.streamDeleted(name);
  if (events === 'not_found') return streamNotFound(name);
  const place = options.getStream();
  const revision = place?.hasRevision() ? BigInt(place.getRevision()) : undefined;
  const backwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;
  const count = Number(options.getCount());
  if (!backwards) {
    if (place?.hasEnd()) return [];
    return events.filter((event) => revision === undefined || event.revision >= revision).slice(0, count);
  }
  const last = place?.hasStart() ? 0n : revision;
  return events
    .filter((event) => last === undefined || event.revision <= last)
    .reverse()
    .slice(0, count);
}

/** Forwards from a position includes it, backwards does not. */
function readAll(node: Node, options: streams.ReadReq.Options): readonly StoredEvent[] {
  const place = options.getAll();
  const position = place?.hasPosition() ? BigInt(place.getPosition()?.getCommitPosition() ?? 0) : undefined;
  const { all } = node.events;
  const at = position === undefined ? (place?.hasEnd() ? all.length : 0) : node.events.indexOf(position);
  const backwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;
  const events = backwards ? all.slice(0, at).reverse() : all.slice(at);
  return events.filter(filterOf(options)).slice(0, Number(options.getCount()));
}
