import { type ServerWritableStream } from '@grpc/grpc-js';
import type streams from '@eventstore/db-client/generated/streams_pb.js';

/** One call of Read, from the server's side. */
export type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp>;

/** Resolves when the client has taken what was written, or is gone. */
export const drained = (call: ReadCall): Promise<void> =>
  new Promise((resolve) => {
    const events = ['drain', 'close', 'cancelled'];
    const done = (): void => {
      for (const event of events) call.off(event, done);
      resolve();
    };
    for (const event of events) call.on(event, done);
  });
