/** A body of `POST /v1/evidence`, under the API's names. The service says whether it is a good one. */
export type EvidenceItem = Readonly<Record<string, unknown>>;

/** Why a record is not remembered. Never what stands in it: reports end up in logs. */
export interface Problem {
  readonly code: string;
  readonly field: string | null;
}

export interface Refusal {
  /** Line of the file, or element of its array, from 1. */
  readonly line: number;
  readonly refused: Problem;
}

/** One record of a file, cut out of it but not read yet. */
export type Piece = { readonly line: number; readonly text: string } | Refusal;

/** One record that was read. */
export type Reading = { readonly line: number; readonly item: EvidenceItem } | Refusal;

/** What a format makes of the text of a record. */
export type Reader = (text: string, line: number) => { readonly item: EvidenceItem } | { readonly refused: Problem };

export const refused = (code: string, field: string | null = null): { refused: Problem } => ({ refused: { code, field } });
