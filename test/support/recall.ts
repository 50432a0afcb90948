import { EvidenceClient } from './evidence.js';
import type { Answer } from './http.js';
import type { TestTeam } from './service.js';

export interface Recalled {
  readonly results: readonly {
    readonly evidence_id: string;
    readonly context: string;
    readonly neighbours?: readonly { readonly evidence_id: string; readonly context: string }[];
    readonly rank_position?: number;
    readonly relevance_score?: number;
  }[];
  readonly discovery_paths: readonly object[];
  readonly guidance: string | null;
  readonly empty_reason: string | null;
  readonly explanation?: {
    readonly profile: { readonly name: string; readonly version: number };
    readonly results: readonly {
      readonly evidence_id: string;
      readonly branches: readonly { readonly branch: string; readonly rank: number }[];
      readonly adjustments: readonly { readonly name: string; readonly factor: number }[];
    }[];
    readonly dropped: readonly { readonly evidence_id: string; readonly reason: string }[];
  };
  readonly layers?: { readonly tokens_used: number; readonly left_out: number; readonly trimmed: boolean };
  readonly channel_status?: Readonly<Record<string, string>>;
  readonly incomplete_channels?: readonly string[];
  readonly code?: string;
  readonly field?: string;
}

/** A team's memory as a test fills it and asks it: every question waits for everything remembered before. */
export class RecallOn {
  readonly evidence: EvidenceClient;
  position = '';

  constructor(readonly team: TestTeam) {
    this.evidence = new EvidenceClient(team.client);
  }

  /** @returns ids in the order given */
  async remember(...items: readonly ({ content: string } & Record<string, unknown>)[]): Promise<string[]> {
    const answer = await this.evidence.batch(items);
    if (answer.status !== 200) throw new Error(`not remembered: ${answer.status} ${JSON.stringify(answer.body)}`);
    this.seen(answer);
    return answer.body.items.map(({ evidence_id, code }) => {
      if (evidence_id === null) throw new Error(`refused: ${code}`);
      return evidence_id;
    });
  }

  /** Later questions wait for this write too. */
  seen<A extends { readonly position: string; readonly status: number; readonly body: unknown }>(answer: A): A {
    if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    if (answer.position !== '') this.position = answer.position;
    return answer;
  }

  ask = (question: string, options: object = {}): Promise<Answer<Recalled>> =>
    this.team.client.post<Recalled>('/v1/recall', {
      question,
      ...(this.position !== '' && { min_position: this.position }),
      ...options,
    });

  async recall(question: string, options: object = {}): Promise<Recalled> {
    const answer = await this.ask(question, options);
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Ids of the results, the best first. */
  found = async (question: string, options: object = {}): Promise<string[]> =>
    (await this.recall(question, options)).results.map(({ evidence_id }) => evidence_id);
}
