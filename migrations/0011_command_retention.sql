-- Receipts of commands are kept for as long as configured; their events answer a repetition that comes later.
CREATE INDEX commands_created_at ON mneme.commands (created_at);
GRANT DELETE ON mneme.commands TO mneme_system;
