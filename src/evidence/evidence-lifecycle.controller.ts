import { applyDecorators, Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiTags } from '@nestjs/swagger';
import { RequireScope, TeamActor } from '../http/authentication.js';
import { Command, type HttpCommand } from '../http/command-context.js';
import { Operation } from '../http/openapi.js';
import { Receipt } from '../http/receipts.js';
import { Id } from '../http/validation/id.js';
import { ChangeEvidence, type EvidenceChange } from './change-evidence.handler.js';
import { EvidenceReasonRequest, SupersedeRequest } from './evidence-requests.js';
import { EvidenceReceiptResponse } from './evidence-responses.js';

/** A change of one piece of evidence. */
const Change = (path: string, id: string, summary: string): MethodDecorator =>
  applyDecorators(
    Post(`:id/${path}`),
    Operation({
      id,
      summary,
      kind: 'write',
      returns: EvidenceReceiptResponse,
      problems: {
        404: 'No such evidence in the team: not_found.',
        409: 'Its status does not allow it: already_superseded, already_retracted, evidence_quarantined, replacement_not_current; or the same command is still being carried out: command_in_flight.',
        410: 'It was erased: erased.',
      },
    }),
  );

/** What becomes of evidence. To quarantine and to release is for everybody in the team, the rest for its owner or an administrator. */
@Controller('v1/evidence')
@ApiTags('evidence')
export class EvidenceLifecycleController {
  constructor(private readonly commands: CommandBus) {}

  @Change('quarantine', 'quarantine_evidence', 'Take evidence out of recall until it is released')
  @RequireScope('memory:write')
  quarantine(
    @Command() command: HttpCommand,
    @TeamActor() actor: TeamActor,
    @Id() id: string,
    @Body() { reason }: EvidenceReasonRequest,
  ) {
    return this.change(command, { type: 'Quarantine', evidence_id: id, reason, admin: isAdmin(actor) });
  }

  @Change('release', 'release_evidence', 'Give quarantined evidence back the status it had')
  @RequireScope('memory:write')
  release(
    @Command() command: HttpCommand,
    @TeamActor() actor: TeamActor,
    @Id() id: string,
    @Body() { reason }: EvidenceReasonRequest,
  ) {
    return this.change(command, { type: 'Release', evidence_id: id, reason, admin: isAdmin(actor) });
  }

  @Change('announce-supersession', 'announce_supersession', 'Take evidence out of recall because its replacement is on its way')
  @RequireScope('memory:write', 'admin')
  announce(
    @Command() command: HttpCommand,
    @TeamActor() actor: TeamActor,
    @Id() id: string,
    @Body() { reason }: EvidenceReasonRequest,
  ) {
    return this.change(command, { type: 'AnnounceSupersession', evidence_id: id, reason, admin: isAdmin(actor) });
  }

  @Change('withdraw-supersession', 'withdraw_supersession', 'Bring back evidence whose replacement does not come')
  @RequireScope('memory:write', 'admin')
  withdraw(
    @Command() command: HttpCommand,
    @TeamActor() actor: TeamActor,
    @Id() id: string,
    @Body() { reason }: EvidenceReasonRequest,
  ) {
    return this.change(command, { type: 'WithdrawSupersession', evidence_id: id, reason, admin: isAdmin(actor) });
  }

  @Change('supersede', 'supersede_evidence', 'Replace evidence by other evidence of the same owner, for good')
  @RequireScope('memory:write', 'admin')
  supersede(
    @Command() command: HttpCommand,
    @TeamActor() actor: TeamActor,
    @Id() id: string,
    @Body() { reason, replacement_id }: SupersedeRequest,
  ) {
    return this.change(command, { type: 'Supersede', evidence_id: id, reason, replacement_id, admin: isAdmin(actor) });
  }

  @Change('retract', 'retract_evidence', 'Take evidence back, for good')
  @RequireScope('memory:write', 'admin')
  retract(
    @Command() command: HttpCommand,
    @TeamActor() actor: TeamActor,
    @Id() id: string,
    @Body() { reason }: EvidenceReasonRequest,
  ) {
    return this.change(command, { type: 'Retract', evidence_id: id, reason, admin: isAdmin(actor) });
  }

  private async change({ context, expectedRevision }: HttpCommand, change: EvidenceChange) {
    const { revision, position, ...receipt } = await this.commands.execute(new ChangeEvidence(context, change, expectedRevision));
    return new Receipt(receipt, { revision, position });
  }
}

const isAdmin = ({ scopes }: TeamActor): boolean => scopes.includes('admin');
