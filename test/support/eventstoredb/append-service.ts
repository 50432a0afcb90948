import { type sendUnaryData, type ServerReadableStream, type ServerUnaryCall } from '@grpc/grpc-js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { appendSuccess, appendWrongVersion, proposedEvent, streamName } from './messages.js';
import { admit, type Node, perform } from './node.js';
import * as errors from './rpc-errors.js';
import { type Expected, type ProposedEvent, type WriteResult } from './stored-events.js';

type ExpectedOption = streams.AppendReq.Options | streams.DeleteReq.Options | streams.TombstoneReq.Options;

/** Append: one AppendReq with `options`, then one for each `proposed_message`, then one answer. */
export function append(node: Node) {
  return (call: ServerReadableStream<streams.AppendReq, streams.AppendResp>, reply: sendUnaryData<streams.AppendResp>): void => {
    let options: streams.AppendReq.Options | undefined;
    const events: ProposedEvent[] = [];
    call.on('data', (request: streams.AppendReq) => {
      options ??= request.getOptions();
      const message = request.getProposedMessage();
      if (message) events.push(proposedEvent(message));
    });
    call.on('end', () => {
      if (!options) return;
      const [stream, expected] = [streamName(options), expectedOf(options)];
      node.requests.add({ operation: 'append', stream, ids: events.map(({ id }) => id), expected });
      const fault = node.faults.take('append', stream);
      void perform(node, {
        call,
        fault,
        work: () => {
          admit(node, call);
          if (!events.every(hasUuid)) throw errors.handlerThrew();
          if (sizeOf(events) > node.maxAppendSize) throw errors.appendTooLarge(node.maxAppendSize);
          return node.events.append(stream, events, expected);
        },
        answer: (result) => {
          if (result.result === 'stream_deleted') return reply(errors.streamDeleted(stream));
          if (result.result === 'wrong_expected_version') return reply(null, appendWrongVersion(result.current, expected));
          reply(null, appendSuccess(fault?.kind === 'no_position' ? { ...result, position: undefined } : result));
        },
        fail: (error) => reply(error),
        end: () => undefined,
      });
    });
  };
}

export function deleteStream(node: Node) {
  return (call: ServerUnaryCall<streams.DeleteReq, streams.DeleteResp>, reply: sendUnaryData<streams.DeleteResp>): void => {
    erase(node, 'delete', call, reply, (position) => {
      const at = new streams.DeleteResp.Position().setCommitPosition(position).setPreparePosition(position);
      return new streams.DeleteResp().setPosition(at);
    });
  };
}

export function tombstone(node: Node) {
  return (
    call: ServerUnaryCall<streams.TombstoneReq, streams.TombstoneResp>,
    reply: sendUnaryData<streams.TombstoneResp>,
  ): void => {
    erase(node, 'tombstone', call, reply, (position) => {
      const at = new streams.TombstoneResp.Position().setCommitPosition(position).setPreparePosition(position);
      return new streams.TombstoneResp().setPosition(at);
    });
  };
}

function erase<Response>(
  node: Node,
  operation: 'delete' | 'tombstone',
  call: ServerUnaryCall<streams.DeleteReq | streams.TombstoneReq, Response>,
  reply: sendUnaryData<Response>,
  response: (position: string) => Response,
): void {
  const options = call.request.getOptions();
  const [stream, expected] = [streamName(options), options ? expectedOf(options) : 'any'];
  node.requests.add({ operation, stream, ids: [], expected });
  void perform(node, {
    call,
    fault: node.faults.take(operation, stream),
    work: () => {
      admit(node, call);
      return written(node.events[operation](stream, expected), stream, expected);
    },
    answer: ({ position }) => reply(null, response(String(position))),
    fail: (error) => reply(error),
    end: () => undefined,
  });
}

/** @throws RpcError when it was refused: Delete and Tombstone have no answer for that */
function written(result: WriteResult, stream: string, expected: Expected): { position: bigint | undefined } {
  if (result.result === 'stream_deleted') throw errors.streamDeleted(stream);
  if (result.result !== 'wrong_expected_version') return result;
  const asNumber = typeof expected === 'bigint' ? expected : expectationNumbers[expected];
  throw errors.wrongExpectedVersion('Delete', stream, asNumber, result.current === 'no_stream' ? -1n : result.current);
}

/** As a number, an expectation that names no revision is negative. */
const expectationNumbers = { no_stream: -1n, any: -2n, stream_exists: -4n } as const;

/** Bytes the server counts against its maximum. */
export const sizeOf = (events: readonly ProposedEvent[]): number =>
  events.reduce((size, { type, data, metadata }) => size + type.length * 2 + data.length + metadata.length, 0);

/** An id that is no UUID makes the server throw, with whatever error that gives. */
export const hasUuid = ({ id }: ProposedEvent): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);

function expectedOf(options: ExpectedOption): Expected {
  if (options.hasRevision()) return BigInt(options.getRevision());
  if (options.hasNoStream()) return 'no_stream';
  return options.hasStreamExists() ? 'stream_exists' : 'any';
}
