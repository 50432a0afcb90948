import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { Scope } from '../access/scopes.js';
import { HttpProblem } from './http-problem.js';
import { AddressLimits } from './rate-limits/address-limits.js';

/** Who sends the request. */
export interface Actor {
  /** UUID; left out for operators. */
  readonly team?: string;
  /** Author that the key is bound to. */
  readonly profile?: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly operator: boolean;
}

/** An actor with a team: anyone but an operator. */
export interface TeamActor extends Actor {
  readonly team: string;
}

/** Knows the keys. */
export abstract class Authenticator {
  /** Undefined for a key that is unknown, expired, revoked or of a deactivated profile: nobody learns which. */
  abstract authenticate(key: string): Promise<Actor | undefined>;
}

const scopesMetadata = 'mneme:scopes';
const publicMetadata = 'mneme:public';
const operatorsMetadata = 'mneme:operators';

/** Who may call: a key with one of these scopes. Every route names its scopes or is `Public`. */
export const RequireScope = (...anyOf: [Scope, ...Scope[]]) =>
  applyDecorators(SetMetadata(scopesMetadata, anyOf), ApiExtension('x-required-scopes', anyOf));

/** Operators may call too. Without it they get 403 `team_required`, whatever their scopes: `admin` of a team is not theirs. */
export const OperatorsAllowed = () => SetMetadata(operatorsMetadata, true);

/** No key needed. */
export const Public = () => SetMetadata(publicMetadata, true);

const actors = new WeakMap<FastifyRequest, Actor>();

export const actorOf = (request: FastifyRequest): Actor | undefined => actors.get(request);

const requiredActor = (context: ExecutionContext): Actor => {
  const actor = actorOf(context.switchToHttp().getRequest<FastifyRequest>());
  if (!actor) throw unauthenticated();
  return actor;
};

/** Parameter: who sends the request. */
export const Actor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => requiredActor(context));

/** Parameter: who sends the request, refused with 403 `team_required` for an operator. */
export const TeamActor = createParamDecorator((_: unknown, context: ExecutionContext): TeamActor => {
  const actor = requiredActor(context);
  if (actor.team === undefined) throw teamRequired();
  return { ...actor, team: actor.team };
});

const unauthenticated = () =>
  new HttpProblem(401, 'unauthenticated', {
    detail: 'Send a valid API key as Authorization: Bearer <key>.',
    headers: { 'www-authenticate': 'Bearer realm="mneme"' },
  });

const teamRequired = () =>
  new HttpProblem(403, 'team_required', { detail: 'Operator keys administer only; use the key of a team.' });

const forbidden = (anyOf: readonly Scope[]) =>
  new HttpProblem(403, 'forbidden', {
    detail: `This needs a key with the scope ${anyOf.join(' or ')}.`,
    headers: { 'www-authenticate': `Bearer realm="mneme", error="insufficient_scope", scope="${anyOf.join(' ')}"` },
    extensions: { required_scopes: anyOf },
  });

/** Authenticates every request, and asks for the scope its route names. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authenticator: Authenticator,
    private readonly addresses: AddressLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(publicMetadata, targets)) return true;
    const anyOf = this.reflector.getAllAndOverride<readonly Scope[] | undefined>(scopesMetadata, targets);
    if (!anyOf) throw new Error(`${context.getClass().name}.${context.getHandler().name} names no scope`);
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const actor = await this.authenticate(request);
    actors.set(request, actor);
    const operatorsAllowed = this.reflector.getAllAndOverride<boolean | undefined>(operatorsMetadata, targets) ?? false;
    if (actor.operator && !operatorsAllowed) throw teamRequired();
    if (!anyOf.some((scope) => actor.scopes.includes(scope))) throw forbidden(anyOf);
    return true;
  }

  private async authenticate(request: FastifyRequest): Promise<Actor> {
    const [, key] = /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(request.headers.authorization ?? '') ?? [];
    const actor = key === undefined ? undefined : await this.authenticator.authenticate(key);
    if (actor) {
      this.addresses.accepted(request);
      return actor;
    }
    this.addresses.failed(request);
    throw unauthenticated();
  }
}
