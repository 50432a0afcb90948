import { Global, Module } from '@nestjs/common';
import { AuthenticationGuard } from './authentication.js';
import { CommandPipe } from './command-context.js';
import { HealthController } from './health.controller.js';
import { LocalOperator } from './local-operator.js';
import { ProblemFilter } from './problem.filter.js';
import { ProjectionsController } from './projections.controller.js';
import { MinPositionInterceptor } from './read-models.js';
import { ReceiptInterceptor } from './receipts.js';
import { RequestPipe } from './validation/request.pipe.js';

/**
 * What every controller relies on. Asks the composition root for Configuration, Database, EventLog, DataKeys,
 * ProjectionEngine, Positions and JsonLogger, and the access slice for Authenticator.
 */
@Global()
@Module({
  controllers: [HealthController, ProjectionsController],
  providers: [
    LocalOperator,
    AuthenticationGuard,
    CommandPipe,
    MinPositionInterceptor,
    ProblemFilter,
    ReceiptInterceptor,
    RequestPipe,
  ],
  exports: [LocalOperator, CommandPipe],
})
export class HttpModule {}
