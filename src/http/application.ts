import type { Type, DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../config/package-root.js';
import { Metrics } from '../metrics/metrics.js';
import { AuthenticationGuard } from './authentication.js';
import { acceptJson, limitBodies } from './body.js';
import { CursorInterceptor } from './cursor.interceptor.js';
import { type ConnectionLimits, fastifyAdapter } from './fastify-adapter.js';
import { stopGracefully } from './graceful-stop.js';
import { IdempotencyInterceptor } from './idempotency/idempotency.interceptor.js';
import { JsonLogger } from './json-logger.js';
import { openApiDocument } from './openapi.js';
import { commonHeaders } from './problem-reply.js';
import { ProblemFilter } from './problem.filter.js';
import { AddressLimits } from './rate-limits/address-limits.js';
import { RateLimitGuard } from './rate-limits/rate-limit.guard.js';
import { MinPositionInterceptor } from './read-models.js';
import { ReceiptInterceptor } from './receipts.js';
import { logRequests } from './request-log.js';
import { documentationHeaders, isDocumentation } from './security-headers.js';
import { UndeclaredInputInterceptor } from './undeclared-input.js';
import { RequestPipe } from './validation/request.pipe.js';

/** The HTTP application of a module, ready to `listen`. */
export async function createApplication(
  module: Type | DynamicModule,
  limits: ConnectionLimits = {},
): Promise<NestFastifyApplication> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest types these options as a class, but has no such class
  const app = await NestFactory.create<NestFastifyApplication>(module, fastifyAdapter(limits), {
    bodyParser: false,
    bufferLogs: true,
    abortOnError: false,
  });
  return configureApplication(app);
}

/** Puts what every route shares around an application that was made with `fastifyAdapter` and `bodyParser: false`. */
export function configureApplication(app: NestFastifyApplication): NestFastifyApplication {
  const logger = app.get(JsonLogger);
  app.useLogger(logger);
  const fastify = app.getHttpAdapter().getInstance();
  acceptJson(fastify);
  limitBodies(fastify);
  logRequests(fastify, logger, app.get(Metrics));
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.headers(commonHeaders(request.id));
    if (isDocumentation(request.routeOptions.url)) void reply.headers(documentationHeaders);
    done();
  });
  stopGracefully(fastify);
  limitAddresses(fastify, app.get(AddressLimits));
  app.useGlobalFilters(app.get(ProblemFilter));
  app.useGlobalGuards(app.get(AuthenticationGuard), app.get(RateLimitGuard));
  app.useGlobalInterceptors(
    app.get(UndeclaredInputInterceptor),
    app.get(ReceiptInterceptor),
    app.get(IdempotencyInterceptor),
    app.get(CursorInterceptor),
    app.get(MinPositionInterceptor),
  );
  app.useGlobalPipes(app.get(RequestPipe));
  serveDocumentation(app);
  return app;
}

/** Before bodies are read: what is refused costs no more than its head. */
function limitAddresses(fastify: FastifyInstance, limits: AddressLimits): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    try {
      limits.arrived(request);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
}

function serveDocumentation(app: NestFastifyApplication): void {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  SwaggerModule.setup('docs', app, () => openApiDocument(app, version), { jsonDocumentUrl: 'openapi.json', raw: ['json'] });
}
