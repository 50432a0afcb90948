import { Global, Module } from '@nestjs/common';
import { LogIdentity } from '../event-log/log-identity.js';
import { MetricsController } from '../metrics/metrics.controller.js';
import { PastReads } from './as-of.js';
import { AuthenticationGuard } from './authentication.js';
import { CommandPipe } from './command-context.js';
import { CursorInterceptor } from './cursor.interceptor.js';
import { Cursors } from './cursors.js';
import { HealthController } from './health.controller.js';
import { CommandKeys } from './idempotency/command-key.js';
import { CommandTable } from './idempotency/command-table.js';
import { IdempotencyInterceptor } from './idempotency/idempotency.interceptor.js';
import { ReceiptPruner } from './idempotency/receipt-pruner.js';
import { LocalOperator } from './local-operator.js';
import { Positions } from './positions.js';
import { ProblemFilter } from './problem.filter.js';
import { ProjectionsController } from './projections.controller.js';
import { AddressLimits } from './rate-limits/address-limits.js';
import { RateLimitGuard } from './rate-limits/rate-limit.guard.js';
import { RateLimits } from './rate-limits/rate-limits.js';
import { MinPositionInterceptor } from './read-models.js';
import { ReceiptInterceptor } from './receipts.js';
import { UndeclaredInputInterceptor } from './undeclared-input.js';
import { RequestPipe } from './validation/request.pipe.js';

/**
 * What every controller relies on. Asks the composition root for Configuration, Database, EventLog, DataKeys,
 * ProjectionEngine, LogIdentity, Metrics, ErasureConsumer and JsonLogger, and the access slice for Authenticator.
 */
@Global()
@Module({
  controllers: [HealthController, MetricsController, ProjectionsController],
  providers: [
    { provide: Positions, useFactory: ({ logId }: LogIdentity) => new Positions(logId), inject: [LogIdentity] },
    LocalOperator,
    AddressLimits,
    AuthenticationGuard,
    CommandKeys,
    CommandPipe,
    CommandTable,
    CursorInterceptor,
    Cursors,
    IdempotencyInterceptor,
    MinPositionInterceptor,
    PastReads,
    ProblemFilter,
    RateLimitGuard,
    RateLimits,
    ReceiptInterceptor,
    ReceiptPruner,
    RequestPipe,
    UndeclaredInputInterceptor,
  ],
  exports: [Positions, PastReads, LocalOperator, CommandKeys, CommandPipe],
})
export class HttpModule {}
