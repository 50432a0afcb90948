import type { Type, DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../config/package-root.js';
import { Metrics } from '../metrics/metrics.js';
import { AuthenticationGuard } from './authentication.js';
import { acceptJson, limitBodies } from './body.js';
import { CursorInterceptor } from './cursor.interceptor.js';
import { fastifyAdapter } from './fastify-adapter.js';
import { stopGracefully } from './graceful-stop.js';
import { IdempotencyInterceptor } from './idempotency/idempotency.interceptor.js';
import { JsonLogger } from './json-logger.js';
import { openApiDocument } from './openapi.js';
import { commonHeaders } from './problem-reply.js';
import { ProblemFilter } from './problem.filter.js';
import { MinPositionInterceptor } from './read-models.js';
import { ReceiptInterceptor } from './receipts.js';
import { logRequests } from './request-log.js';
import { UndeclaredInputInterceptor } from './undeclared-input.js';
import { RequestPipe } from './validation/request.pipe.js';

/** The HTTP application of a module, ready to `listen`. */
export async function createApplication(module: Type | DynamicModule): Promise<NestFastifyApplication> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest types these options as a class, but has no such class
  const app = await NestFactory.create<NestFastifyApplication>(module, fastifyAdapter(), {
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
    done();
  });
  stopGracefully(fastify);
  app.useGlobalFilters(app.get(ProblemFilter));
  app.useGlobalGuards(app.get(AuthenticationGuard));
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

function serveDocumentation(app: NestFastifyApplication): void {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  SwaggerModule.setup('docs', app, () => openApiDocument(app, version), { jsonDocumentUrl: 'openapi.json', raw: ['json'] });
}
