import { Module } from '@nestjs/common';
import { RecallEvidenceHandler } from './recall-evidence.handler.js';
import { RecallController } from './recall.controller.js';

@Module({ controllers: [RecallController], providers: [RecallEvidenceHandler] })
export class RecallModule {}
