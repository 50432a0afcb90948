import type { Answer, Client, RequestOptions } from './http.js';

export interface EvidenceReceipt {
  readonly evidence_id: string;
  readonly outcome: string;
  readonly status: string;
  readonly source_id: string | null;
}

export interface ItemReceipt {
  readonly index: number;
  readonly outcome: string;
  readonly evidence_id: string | null;
  readonly code: string | null;
  readonly field: string | null;
}

export interface Evidence {
  readonly evidence_id: string;
  readonly content: string;
  readonly status: string;
  readonly external_ids: readonly string[];
  readonly revision_current: boolean;
  readonly source_erased: boolean;
  readonly owner_active: boolean;
  readonly eligible: boolean;
  readonly revision: number;
}

export interface Problem {
  readonly code: string;
  readonly field?: string;
  readonly fields?: readonly { readonly field: string; readonly rule: string }[];
}

/** One team's evidence over HTTP, in the name of one key. */
export class EvidenceClient {
  constructor(readonly client: Client) {}

  remember = (body: object, options: RequestOptions = {}) => this.client.post<EvidenceReceipt>('/v1/evidence', body, options);

  /** @throws Error when it was not remembered */
  async remembered(body: object): Promise<{ id: string; position: string; source: string }> {
    const answer = await this.remember(body);
    if (answer.status !== 201) throw new Error(`not remembered: ${answer.status} ${JSON.stringify(answer.body)}`);
    return { id: answer.body.evidence_id, position: answer.position, source: answer.body.source_id ?? '' };
  }

  batch = (items: unknown, options: RequestOptions = {}) =>
    this.client.post<{ items: ItemReceipt[] } & Problem>('/v1/evidence/batch', { items }, options);

  change = <Body = EvidenceReceipt & Problem>(id: string, change: string, body: object = {}, options: RequestOptions = {}) =>
    this.client.post<Body>(`/v1/evidence/${id}/${change}`, body, options);

  erase = (id: string, options: RequestOptions = {}) =>
    this.client.delete<EvidenceReceipt & Problem>(`/v1/evidence/${id}`, options);

  publish = (key: string, revision: string, options: RequestOptions = {}) =>
    this.client.post<{ source_id: string; number: number; outcome: string } & Problem>(
      '/v1/sources/revisions',
      { key, revision },
      options,
    );

  get = (id: string, min_position = ''): Promise<Answer<Evidence & Problem>> =>
    this.client.get(`/v1/evidence/${id}${min_position === '' ? '' : `?min_position=${min_position}`}`);

  list = async (query: Record<string, string>, min_position = ''): Promise<Evidence[]> => {
    const parameters = new URLSearchParams({ ...query, ...(min_position !== '' && { min_position }) });
    const answer = await this.client.get<{ items: Evidence[] }>(`/v1/evidence?${parameters.toString()}`);
    if (answer.status !== 200) throw new Error(`not listed: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.items;
  };
}
