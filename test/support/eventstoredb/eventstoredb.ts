import { randomUUID } from 'node:crypto';
import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { append, deleteStream, tombstone } from './append-service.js';
import { batchAppend } from './batch-append-service.js';
import { readGossip, supportedMethods } from './cluster-services.js';
import { Faults } from './faults.js';
import { address, Listener } from './listener.js';
import { type Member, type Node } from './node.js';
import { read } from './read-service.js';
import { Requests } from './requests.js';
import type * as errors from './rpc-errors.js';
import { type StoredEvent, StoredEvents } from './stored-events.js';

export interface EventStoreDbOptions {
  /** Members of the cluster, 1 to 3; the first is the leader. Default 1. */
  readonly members?: number;
  /** Whether clients may append in batches; default true. */
  readonly batchAppend?: boolean;
  /** Bytes an append may hold; default 1 MiB, as the server's. */
  readonly maxAppendSize?: number;
  /** Name and password that every call must carry. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** The server's clock. Where it is ahead of the client's by more than a deadline, appends in batches time out. */
  readonly now?: () => Date;
  /**
   * Some releases of 24.10 had this fault: when a full page was the last there was, the checkpoint before `caught_up`
   * is where the next event is going to be. Default false.
   */
  readonly checkpointsAhead?: boolean;
  /** Servers before 23.10 have no `caught_up`. Default true. */
  readonly tellsCaughtUp?: boolean;
}

export const startEventStoreDb = async (options: EventStoreDbOptions = {}): Promise<TestEventStoreDb> => {
  const server = new TestEventStoreDb(options);
  await server.restart();
  return server;
};

/** An EventStoreDB cluster in this process, which speaks the protocol of the real one and fails when told to. */
export class TestEventStoreDb {
  readonly faults = new Faults();
  readonly requests = new Requests();
  readonly members: readonly ClusterMember[];
  private readonly stored: StoredEvents;
  private leader: ClusterMember;

  constructor(options: EventStoreDbOptions) {
    const now = options.now ?? (() => new Date());
    this.stored = new StoredEvents(now);
    const shared = {
      events: this.stored,
      faults: this.faults,
      requests: this.requests,
      maxAppendSize: options.maxAppendSize ?? 1024 * 1024,
      offersBatchAppend: options.batchAppend ?? true,
      checkpointsAhead: options.checkpointsAhead ?? false,
      tellsCaughtUp: options.tellsCaughtUp ?? true,
      now,
      access: accessWith(options.credentials),
      leader: () => this.leader.endpoint,
      members: () => this.members.map((member): Member => member.describe(member === this.leader)),
    };
    this.members = Array.from({ length: options.members ?? 1 }, () => {
      const member: ClusterMember = new ClusterMember((own) => ({ ...shared, ...own, isLeader: () => this.leader === member }));
      return member;
    });
    const [first] = this.members;
    if (!first) throw new Error('a cluster has at least one member');
    this.leader = first;
  }

  /** Port of the first member. */
  get port(): number {
    return this.members[0]?.endpoint.port ?? 0;
  }

  /** Names every member; a client of several asks them for the cluster first. */
  get connectionString(): string {
    return `esdb://${this.members.map(({ endpoint }) => `${endpoint.address}:${endpoint.port}`).join(',')}?tls=false`;
  }

  /** Names the first member, which the client asks for the cluster. */
  get discoveryString(): string {
    return `esdb+discover://${address}:${this.port}?tls=false`;
  }

  /** All that is stored, in the order of the log, with what the server has written itself. */
  events(): readonly StoredEvent[] {
    return [...this.stored.all];
  }

  /** Removes events of deleted streams from the log, as the server does when it scavenges. */
  scavenge(): void {
    this.stored.scavenge();
  }

  /** Makes another member the leader. */
  elect(member: ClusterMember | undefined): void {
    if (member) this.leader = member;
  }

  /** Cuts every connection at once. Clients may connect again. */
  kill(): void {
    for (const member of this.members) member.kill();
  }

  /** Cuts every connection and takes no new ones. */
  async pause(): Promise<void> {
    await Promise.all(this.members.map((member) => member.pause()));
  }

  /** Listens again on the same ports, with the same data. */
  async restart(): Promise<void> {
    await Promise.all(this.members.map((member) => member.restart()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
  }
}

/** One member of the cluster: a port and the services behind it. */
export class ClusterMember {
  private readonly id = randomUUID();
  private readonly listener: Listener;
  private readonly server = new Server({ 'grpc.max_receive_message_length': 16 * 1024 * 1024 });

  constructor(nodeOf: (own: Pick<Node, 'reset'>) => Node) {
    const injector = this.server.createConnectionInjector(ServerCredentials.createInsecure());
    this.listener = new Listener((socket) => injector.injectConnection(socket));
    const node = nodeOf({ reset: (call) => this.listener.cutPeer(call.getPeer()) });
    const service: UntypedServiceImplementation = {
      append: append(node),
      batchAppend: batchAppend(node),
      read: read(node),
      delete: deleteStream(node),
      tombstone: tombstone(node),
    };
    this.server.addService(streams.StreamsService, service);
    this.server.addService(features.ServerFeaturesService, { getSupportedMethods: supportedMethods(node) });
    this.server.addService(gossip.GossipService, { read: readGossip(node) });
  }

  get endpoint(): errors.Endpoint {
    return { address, port: this.listener.port };
  }

  describe(leader: boolean): Member {
    return { ...this.endpoint, id: this.id, alive: this.listener.isOpen, leader };
  }

  kill(): void {
    this.listener.cut();
  }

  async pause(): Promise<void> {
    await this.listener.close();
  }

  async restart(): Promise<void> {
    await this.listener.open();
  }

  async stop(): Promise<void> {
    await this.listener.close();
    this.server.forceShutdown();
  }
}

function accessWith(credentials: EventStoreDbOptions['credentials']): Node['access'] {
  if (!credentials) return () => 'granted';
  const expected = `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
  return (metadata) => {
    const [given] = metadata.get('authorization');
    if (given === undefined) return 'denied';
    return given === expected ? 'granted' : 'wrong_password';
  };
}
