import { Module } from '@nestjs/common';
import { ItemReceipts } from '../http/idempotency/item-receipts.js';
import { registerRefusals } from '../http/problem.js';
import { ChangeEvidenceHandler } from './change-evidence.handler.js';
import { EraseEvidenceHandler, EraseSourceHandler } from './erase-evidence.handler.js';
import { EvidenceBatch } from './evidence-batch.js';
import { EvidenceLifecycleController } from './evidence-lifecycle.controller.js';
import { EvidencePlaces } from './evidence-places.js';
import { GetEvidenceHandler, GetSourceHandler, ListEvidenceHandler, ListSourcesHandler } from './evidence-queries.handler.js';
import { EvidenceController } from './evidence.controller.js';
import { PublishRevisionHandler } from './publish-revision.handler.js';
import { RememberBatchHandler } from './remember-batch.handler.js';
import { RememberEvidenceHandler } from './remember-evidence.handler.js';
import { SourcesController } from './sources.controller.js';
import { TraceEvidenceController } from './trace-evidence.controller.js';
import { TraceEvidenceHandler, TraceSourceHandler } from './trace-evidence.handler.js';

registerRefusals({
  erased: 410,
  not_the_owner: 403,
  already_superseded: 409,
  already_retracted: 409,
  evidence_quarantined: 409,
  replacement_not_current: 409,
});

@Module({
  controllers: [EvidenceController, EvidenceLifecycleController, SourcesController, TraceEvidenceController],
  providers: [
    ItemReceipts,
    EvidencePlaces,
    EvidenceBatch,
    RememberEvidenceHandler,
    RememberBatchHandler,
    ChangeEvidenceHandler,
    EraseEvidenceHandler,
    EraseSourceHandler,
    PublishRevisionHandler,
    GetEvidenceHandler,
    ListEvidenceHandler,
    GetSourceHandler,
    ListSourcesHandler,
    TraceEvidenceHandler,
    TraceSourceHandler,
  ],
})
export class EvidenceModule {}
