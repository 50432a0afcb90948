/**
 * What may be logged of an error whose message could quote content: its type, its code, and where it was thrown.
 */
export function errorFacts(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { code, sqlState, table, constraint } = error as Partial<Record<'code' | 'sqlState' | 'table' | 'constraint', unknown>>;
  const facts = { error: typeName(error), code, sql_state: sqlState, table, constraint };
  const named = Object.entries(facts).filter(([, value]) => typeof value === 'string' && /^[\w.:-]{1,100}$/.test(value));
  return { ...Object.fromEntries(named), stack: frames(error) };
}

/** The constructor's name, not `name`, which any code can fill with text. */
const typeName = (error: Error): string => (Object.getPrototypeOf(error) as Error).constructor.name;

function frames({ stack = '', message }: Error): string[] {
  const start = message === '' ? 0 : stack.indexOf(message) + message.length;
  return stack
    .slice(start)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}
