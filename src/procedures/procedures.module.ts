import { Module } from '@nestjs/common';
import { registerRefusals } from '../http/problem.js';
import { ChangeProcedureHandler } from './change-procedure.handler.js';
import { EraseProcedureHandler } from './erase-procedure.handler.js';
import { ExecutionsController } from './executions.controller.js';
import { PendingVectors } from './pending-vectors.js';
import { GetExecutionHandler, GetProcedureHandler, ListProceduresHandler } from './procedure-queries.handler.js';
import { ProceduresController } from './procedures.controller.js';
import { RecallProceduresController } from './recall-procedures.controller.js';
import { RecallProceduresHandler } from './recall-procedures.handler.js';
import { RecordExecutionHandler } from './record-execution.handler.js';
import { RecordFeedbackHandler } from './record-feedback.handler.js';
import { RememberProcedureHandler } from './remember-procedure.handler.js';
import { RunJudge } from './run-judge.js';
import { RunRecorder } from './run-recorder.js';
import { TraceProcedureController } from './trace-procedure.controller.js';
import { TraceExecutionHandler, TraceProcedureHandler } from './trace-procedure.handler.js';

registerRefusals({ erased: 410, execution_pruned: 410, not_the_author: 403 });

@Module({
  controllers: [RecallProceduresController, ProceduresController, ExecutionsController, TraceProcedureController],
  providers: [
    RunJudge,
    RunRecorder,
    PendingVectors,
    RememberProcedureHandler,
    RecordExecutionHandler,
    RecordFeedbackHandler,
    ChangeProcedureHandler,
    EraseProcedureHandler,
    GetProcedureHandler,
    ListProceduresHandler,
    GetExecutionHandler,
    RecallProceduresHandler,
    TraceProcedureHandler,
    TraceExecutionHandler,
  ],
})
export class ProceduresModule {}
