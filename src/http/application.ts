import type { Type, DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../config/package-root.js';
import { AuthenticationGuard } from './authentication.js';
import { acceptJson } from './body.js';
import { fastifyAdapter } from './fastify-adapter.js';
import { HttpProblem } from './http-problem.js';
import { JsonLogger } from './json-logger.js';
import { openApiDocument } from './openapi.js';
import { commonHeaders } from './problem-reply.js';
import { ProblemFilter } from './problem.filter.js';
import { MinPositionInterceptor } from './read-models.js';
import { ReceiptInterceptor } from './receipts.js';
import { logRequests } from './request-log.js';
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
  logRequests(fastify, logger);
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.headers(commonHeaders(request.id));
    done();
  });
  refuseWhileStopping(fastify);
  app.useGlobalFilters(app.get(ProblemFilter));
  app.useGlobalGuards(app.get(AuthenticationGuard));
  app.useGlobalInterceptors(app.get(ReceiptInterceptor), app.get(MinPositionInterceptor));
  app.useGlobalPipes(app.get(RequestPipe));
  serveDocumentation(app);
  return app;
}

/** How long a client may take to read its answer once the service stops, milliseconds. */
const stopGraceMs = 10_000;

/**
 * Requests on connections that were open already: accepted ones are answered, new ones go elsewhere. A client that does
 * not read its answer would hold the stop for ever.
 */
function refuseWhileStopping(fastify: FastifyInstance): void {
  let stopping = false;
  fastify.addHook('preClose', (done) => {
    stopping = true;
    setTimeout(() => fastify.server.closeAllConnections(), stopGraceMs).unref();
    done();
  });
  fastify.addHook('onRequest', (_request, reply, done) => {
    if (!stopping) return done();
    void reply.header('connection', 'close');
    done(new HttpProblem(503, 'stopping', { headers: { 'retry-after': '5' } }));
  });
}

function serveDocumentation(app: NestFastifyApplication): void {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  SwaggerModule.setup('docs', app, () => openApiDocument(app, version), { jsonDocumentUrl: 'openapi.json', raw: ['json'] });
}
