/** `warning`: it works, or will, but somebody should look. `failed`: something does not work. */
export type Severity = 'ok' | 'warning' | 'failed';

export const checkNames = [
  'configuration',
  'service',
  'data folder',
  'database',
  'encryption',
  'event log',
  'clock',
  'embedder',
  'intent model',
  'evaluator',
  'projections',
  'embeddings',
] as const;
export type CheckName = (typeof checkNames)[number];

/** What a check found. Neither text ever holds a secret, content, or the text of a server. */
export interface Finding {
  readonly check: CheckName;
  readonly severity: Severity;
  readonly message: string;
  /** What to do; null where there is nothing to be done. */
  readonly advice: string | null;
}

/** Findings of one check. */
export const findingsOf = (check: CheckName) => ({
  ok: (message: string): Finding => ({ check, severity: 'ok', message, advice: null }),
  warning: (message: string, advice: string): Finding => ({ check, severity: 'warning', message, advice }),
  failed: (message: string, advice: string): Finding => ({ check, severity: 'failed', message, advice }),
});

/** The worst of them. */
export function worstOf(findings: readonly Finding[]): Severity {
  const all = new Set(findings.map(({ severity }) => severity));
  return all.has('failed') ? 'failed' : all.has('warning') ? 'warning' : 'ok';
}
