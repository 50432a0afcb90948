import { type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { type Node, perform } from './node.js';

/** What the server says it is, and whose ways it follows. */
const serverVersion = '24.10.0';

const { VNodeState } = gossip.MemberInfo;

/** ServerFeatures/GetSupportedMethods: clients batch appends only where `batchappend` is among them. */
export function supportedMethods(node: Node) {
  return (
    call: ServerUnaryCall<shared.Empty, features.SupportedMethods>,
    reply: sendUnaryData<features.SupportedMethods>,
  ): void => {
    node.requests.add({ operation: 'server_features', stream: '', ids: [] });
    void perform(node, {
      call,
      fault: node.faults.take('server_features', ''),
      work: () => {
        const names = ['read', 'append', 'delete', 'tombstone', ...(node.offersBatchAppend ? ['batchappend'] : [])];
        const methods = names.map((name) => {
          const method = new features.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name);
          return method.setFeaturesList(featuresOf[name] ?? []);
        });
        return new features.SupportedMethods().setMethodsList(methods).setEventStoreServerVersion(serverVersion);
      },
      answer: (response) => reply(null, response),
      fail: (error) => reply(error),
      end: () => undefined,
    });
  };
}

const featuresOf: Record<string, string[]> = { read: ['position', 'events'], batchappend: ['deadline_duration'] };

/** Gossip/Read: the members of the cluster, from which a client chooses the one it talks to. */
export function readGossip(node: Node) {
  return (call: ServerUnaryCall<shared.Empty, gossip.ClusterInfo>, reply: sendUnaryData<gossip.ClusterInfo>): void => {
    node.requests.add({ operation: 'gossip', stream: '', ids: [] });
    void perform(node, {
      call,
      fault: node.faults.take('gossip', ''),
      work: () => {
        const members = node.members().map(({ id, address, port, alive, leader }) =>
          new gossip.MemberInfo()
            .setInstanceId(new shared.UUID().setString(id))
            .setTimeStamp(String(BigInt(Date.now()) * 10_000n))
            .setState(leader ? VNodeState.LEADER : VNodeState.FOLLOWER)
            .setIsAlive(alive)
            .setHttpEndPoint(new gossip.EndPoint().setAddress(address).setPort(port)),
        );
        return new gossip.ClusterInfo().setMembersList(members);
      },
      answer: (response) => reply(null, response),
      fail: (error) => reply(error),
      end: () => undefined,
    });
  };
}
