import { Metadata, status } from '@grpc/grpc-js';

/** An error as a call ends with it: a gRPC status, and what clients go by, the trailer `exception`. */
export class RpcError extends Error {
  readonly metadata = new Metadata();

  constructor(
    readonly code: status,
    readonly details: string,
    trailers: Readonly<Record<string, string>> = {},
  ) {
    super(details);
    for (const [key, value] of Object.entries(trailers)) this.metadata.set(key, value);
  }
}

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export const serverNotReady = (): RpcError => new RpcError(status.UNAVAILABLE, 'Server Is Not Ready');
export const serverTooBusy = (): RpcError => new RpcError(status.UNAVAILABLE, 'Server Is Too Busy');
export const timedOut = (): RpcError => new RpcError(status.ABORTED, 'Operation timed out: Commit phase timeout.');
export const invalidPosition = (): RpcError => new RpcError(status.INVALID_ARGUMENT, 'Trying to read from an invalid position.');
export const handlerThrew = (): RpcError => new RpcError(status.UNKNOWN, 'Exception was thrown by handler.');
export const unauthenticated = (): RpcError => new RpcError(status.UNAUTHENTICATED, 'Received HTTP status code 401');
export const unknownError = (details: string): RpcError => new RpcError(status.UNKNOWN, details);
export const cancelled = (): RpcError => new RpcError(status.CANCELLED, 'The call was cancelled.');

export const accessDenied = (): RpcError =>
  new RpcError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });

export const notLeader = ({ address, port }: Endpoint): RpcError =>
  new RpcError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': address,
    'leader-endpoint-port': String(port),
  });

export const streamDeleted = (stream: string): RpcError =>
  aboutStream(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });

/** Delete and Tombstone end with it; Append answers it as a result. */
export const wrongExpectedVersion = (operation: string, stream: string, expected: bigint, actual: bigint): RpcError =>
  aboutStream(
    status.FAILED_PRECONDITION,
    `${operation} failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: ${expected}, Actual version: ${actual}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': String(expected),
      'actual-version': String(actual),
    },
  );

export const appendTooLarge = (maximum: number): RpcError =>
  new RpcError(status.INVALID_ARGUMENT, `Maximum Append Size of ${maximum} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(maximum),
  });

/** A trailer holds ASCII only: a server that has to put another name into one fails at that. */
const aboutStream = (code: status, details: string, trailers: Readonly<Record<string, string>>): RpcError =>
  /^[ -~]*$/.test(trailers['stream-name'] ?? '') ? new RpcError(code, details, trailers) : handlerThrew();
