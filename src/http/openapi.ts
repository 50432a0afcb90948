import { applyDecorators, HttpCode, type INestApplication, type Type } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiProperty,
  ApiResponse,
  DocumentBuilder,
  getSchemaPath,
  type OpenAPIObject,
  SwaggerModule,
} from '@nestjs/swagger';
import { Write } from './idempotency/idempotency.interceptor.js';
import { CountsAs, limitOfOperation } from './rate-limits/rate-limits.js';

class FieldProblemSchema {
  @ApiProperty({ type: String, description: 'Path of the field in body or query.' })
  field!: string;

  @ApiProperty({ type: String, description: 'Name of the rule it broke.', example: 'code_points' })
  rule!: string;

  @ApiProperty({ type: String, description: 'The rule in words; never quotes the value.' })
  message!: string;
}

export class ProblemSchema {
  @ApiProperty({ type: String, example: 'urn:mneme:problem:not_found' })
  type!: string;

  @ApiProperty({ type: String, example: 'Not found' })
  title!: string;

  @ApiProperty({ type: Number, example: 404 })
  status!: number;

  @ApiProperty({ type: String, description: 'Stable code to decide by.', example: 'not_found' })
  code!: string;

  @ApiProperty({ type: String, required: false })
  detail?: string;

  @ApiProperty({ type: String, required: false, description: 'Field of the request at fault.' })
  field?: string;

  @ApiProperty({ type: FieldProblemSchema, isArray: true, required: false })
  fields?: FieldProblemSchema[];

  @ApiProperty({ type: String, description: 'The X-Correlation-Id of the answer.' })
  correlation_id!: string;
}

/** What a handler returns for an answer class: the same fields, as a plain object. */
export type Answer<Schema> = Schema extends readonly (infer Item)[]
  ? readonly Answer<Item>[]
  : Schema extends object
    ? { readonly [Field in keyof Schema]: Answer<Schema[Field]> }
    : Schema;

interface OperationOptions {
  /** operationId: snake case, unique in the whole API. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** Success status; default 200. */
  readonly status?: number;
  /** Class of the answer's body, with `ApiProperty` on its fields. */
  readonly returns?: Type;
  /** A write takes Idempotency-Key and If-Match and answers with Mneme-Position and ETag; a read may answer 202; `public` needs no key. */
  readonly kind: 'read' | 'write' | 'operation' | 'public';
  /** Statuses beyond those every operation has (400, 401, 403, 422, 429, 500, 503). */
  readonly problems?: Readonly<Record<number, string>>;
}

const problemContent = { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemSchema) } } };

const problemResponse = (status: number, description: string) => ApiResponse({ status, description, content: problemContent });

const withKey: Readonly<Record<number, string>> = {
  401: 'No valid key: unauthenticated.',
  403: 'The key lacks the scope (forbidden) or a team (team_required).',
};

const everywhere: Readonly<Record<number, string>> = {
  400: 'Malformed request: malformed_json, unknown_field, body_not_an_object.',
  422: 'A field breaks a rule (validation_failed) or the command is refused.',
  429: 'Too many requests: rate_limited; see Retry-After.',
  500: 'A fault of this service: internal.',
  503: 'Log, database or a model cannot be reached now; see Retry-After.',
};

const correlation = {
  'X-Correlation-Id': { description: 'Id of this request in logs and events.', schema: { type: 'string' as const } },
};

const writeHeaders = {
  'Mneme-Position': { description: 'Position of the write, for min_position.', schema: { type: 'string' as const } },
  ETag: { description: 'New version, for If-Match.', schema: { type: 'string' as const } },
};

const writeParameters = [
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: '1 to 255 visible ASCII characters. The same key with the same request gives the same receipt.',
  }),
  ApiHeader({ name: 'If-Match', required: false, description: 'Version the caller saw last; another one answers 412.' }),
];

/** Everything OpenAPI says of a route, and its success status. */
export function Operation({
  id,
  summary,
  description,
  status = 200,
  returns,
  kind,
  problems = {},
}: OperationOptions): MethodDecorator {
  const headers = kind === 'write' ? { ...correlation, ...writeHeaders } : correlation;
  const all = {
    ...everywhere,
    ...(kind !== 'public' && withKey),
    ...(kind === 'read' && { 202: 'The read model has not reached min_position yet: read_model_behind. The write stands.' }),
    ...(kind === 'write' && {
      409: 'The same command is still being carried out: command_in_flight; see Retry-After.',
      412: 'Another version than If-Match: version_conflict, with current_version.',
      413: 'Larger than the limits: too_large.',
    }),
    ...problems,
  };
  return applyDecorators(
    HttpCode(status),
    ...(kind === 'write' ? [Write()] : []),
    ...(kind === 'public' ? [] : [CountsAs(limitOfOperation(id, kind === 'write'))]),
    ApiOperation({ operationId: id, summary, ...(description !== undefined && { description }) }),
    ...(kind === 'public' ? [] : [ApiBearerAuth()]),
    ApiExtraModels(ProblemSchema),
    ApiHeader({
      name: 'X-Correlation-Id',
      required: false,
      description: '1 to 128 letters, digits or _ . : -; made when left out.',
    }),
    ...(kind === 'write' ? writeParameters : []),
    ApiResponse({ status, description: 'Success.', headers, ...(returns && { type: returns }) }),
    ...Object.entries(all).map(([code, text]) => problemResponse(Number(code), text)),
  );
}

/** The OpenAPI document of all controllers. */
export function openApiDocument(app: INestApplication, version: string): OpenAPIObject {
  const description =
    'Event-sourced memory for AI agents. Times are RFC 3339, ids are UUIDs, errors are RFC 9457 problem details.';
  const builder = new DocumentBuilder().setTitle('Mneme').setDescription(description).setVersion(version);
  return SwaggerModule.createDocument(app, builder.addBearerAuth({ type: 'http', scheme: 'bearer' }).build());
}
