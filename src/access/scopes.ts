/** What a key of a team may be allowed to do. `admin` administers its own team and implies none of the others. */
export const teamScopes = ['memory:read', 'memory:write', 'feedback:write', 'audit:read', 'erase', 'evaluate', 'admin'] as const;

/** What an operator key may be allowed to do: it has no team, sees no memory, and administers all teams and the read models. */
export const operatorScopes = ['admin', 'projections:manage'] as const;

export const scopes = [
  'memory:read',
  'memory:write',
  'feedback:write',
  'audit:read',
  'erase',
  'evaluate',
  'projections:manage',
  'admin',
] as const;

export type Scope = (typeof scopes)[number];
export type TeamScope = (typeof teamScopes)[number];
export type OperatorScope = (typeof operatorScopes)[number];

const among = <S extends Scope>(known: readonly S[], scope: Scope): scope is S => (known as readonly Scope[]).includes(scope);

export const isTeamScope = (scope: Scope): scope is TeamScope => among(teamScopes, scope);
export const isOperatorScope = (scope: Scope): scope is OperatorScope => among(operatorScopes, scope);
export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text);
